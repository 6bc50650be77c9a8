package connection

import (
	"os"
	"syscall"
)

// group makes a child the root of a process group of its own.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// endGroup kills the child: there is no signal to ask it with.
func endGroup(p *os.Process, kill bool) {
	if kill {
		_ = p.Kill()
	}
}
