//go:build linux

package main

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// overlayFlags are those with which joy-guest mounts the overlay that tells it whether there are overlays, and nothing
// else: a filter sees numbers of a call, and not the name of a file system.
const overlayFlags = unix.MS_RDONLY | unix.MS_NODEV | unix.MS_NOSUID

// refuseOverlays has mount(2) with those flags answer what a kernel without overlayfs does, for all that is started from
// now on.
func refuseOverlays() error {
	const offsetOfNr, offsetOfFlags = 0, 16 + 3*8 // in struct seccomp_data (seccomp(2))
	code := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfNr},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_MOUNT, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offsetOfFlags},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: overlayFlags, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENODEV)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	const all = unix.SECCOMP_FILTER_FLAG_TSYNC // a child may come from any thread
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, all, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("refusing overlays: %w", errno)
	}
	return nil
}
