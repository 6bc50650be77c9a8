package katatest

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// procAttr keeps the daemon out of the test's process group, which a terminal's Ctrl-C ends.
func procAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}
}
