//go:build linux

package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// project tries to take a file out of the project that its disk space is counted for (ioctl_fssetxattr and
// FS_IOC_SETFLAGS in linux/fs.h). It fails when it can.
func project(args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	var attr [28]byte // struct fsxattr: flags and project 0
	var flags uint64
	for name, call := range map[string]struct {
		request uintptr
		arg     unsafe.Pointer
	}{
		"project":         {0x401c5820, unsafe.Pointer(&attr)},
		"flags":           {0x40086602, unsafe.Pointer(&flags)},
		"project, longer": {1<<40 | 0x401c5820, unsafe.Pointer(&attr)},
	} {
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), call.request, uintptr(call.arg))
		if errno != syscall.ENOTTY {
			return fmt.Errorf("%s of %s: %w", name, args[0], errno)
		}
	}
	return nil
}
