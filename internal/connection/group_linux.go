package connection

import (
	"os"
	"syscall"
)

// group makes a child the leader of a process group of its own, killed by the kernel when joy dies.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

// endGroup asks a child and everything in its group to end, or kills them.
func endGroup(p *os.Process, kill bool) {
	sig := syscall.SIGTERM
	if kill {
		sig = syscall.SIGKILL
	}
	_ = syscall.Kill(-p.Pid, sig)
}
