package microvm

import (
	"errors"
	"time"
)

// QEMU may be stopped (SIGSTOP, a debugger) for three seconds before its VM counts as lost: nothing in a stopped VM goes
// on or ends, no limit of a step can be enforced there, and no kill is answered. Looks are counted and not time, as joy
// may have been stopped with it.
const (
	stoppedTick  = 500 * time.Millisecond
	stoppedLooks = 6
)

// watchStopped tells once that the process is stopped and stays it. It returns when the process has ended.
func (p *process) watchStopped(tell func(error)) {
	tick := time.NewTicker(stoppedTick)
	defer tick.Stop()
	for seen := 0; ; {
		select {
		case <-p.exited:
			return
		case <-tick.C:
		}
		if seen++; !stopped(p.pid) {
			seen = 0
		}
		if seen == stoppedLooks {
			tell(errors.New("QEMU was stopped from outside and stood still"))
			return
		}
	}
}

// stopped says whether a process is stopped by a signal or a tracer (proc(5): state T or t).
func stopped(pid int) bool {
	fields, err := statFields(pid)
	return err == nil && (fields[0] == "T" || fields[0] == "t")
}
