package state

import "os"

// Process names one process for good: a pid alone is given to somebody else later.
type Process struct {
	PID      int    `json:"pid"`
	PIDStart string `json:"pid_start"` // the kernel's start time of it; "" where the system does not tell
	BootID   string `json:"boot_id"`   // of the kernel it ran on; "" where the system does not tell
}

// Self is the running joy.
func Self() Process {
	pid := os.Getpid()
	return Process{PID: pid, PIDStart: startOf(pid), BootID: bootID()}
}

// Alive says whether that very process still runs. Where the system does not tell start times, any process of that pid
// counts: a VM is rather left alone than taken from a run that uses it.
func (p Process) Alive() bool {
	if p.PID <= 0 || p.BootID != bootID() {
		return false
	}
	return running(p.PID) && startOf(p.PID) == p.PIDStart
}
