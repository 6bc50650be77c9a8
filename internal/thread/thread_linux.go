//go:build linux

// Package thread lends threads that give up rights for good: a child that is started from one inherits what is left.
//
// The one rule: such a thread ends with what it was taken for, and is never the main one, which stands for the whole
// process where the kernel judges who may signal or trace whom. What a thread gave up does not come back.
package thread

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Own runs f on a thread that ends with it. It is never the main thread: that one stands for the whole process where the
// kernel judges who may signal or trace whom, and joy must not be taken for a part of what it locks in.
func Own(f func()) {
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if unix.Gettid() != unix.Getpid() {
			f()
			return
		}
		other := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(other) // this is another thread: the main one is held until now
			f()
		}()
		<-other
		runtime.UnlockOSThread()
	}()
}

// ShutOnExec marks every descriptor that joy itself was started with: a child must not inherit what a shell or a CI system
// left open. Whatever Go opens is marked already.
func ShutOnExec() error {
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, name := range names {
		var fd int
		if _, err := fmt.Sscan(name.Name(), &fd); err == nil && fd > 2 {
			unix.CloseOnExec(fd) // or it is the directory's own, and closed
		}
	}
	return nil
}

// DropCapabilities empties the calling thread's sets that survive an execve, for root also the bounding set: what is not in it is not even
// had by a QEMU that must stay root. A user's QEMU would not gain by that: in its user namespace the set is whole again,
// and no_new_privs keeps it from any use. The effective set stays: with it the kernel delivers the signal of the thread's death to
// a QEMU of another uid.
func DropCapabilities(root bool) error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	data[0].Inheritable, data[1].Inheritable = 0, 0
	if err := unix.Capset(&head, &data[0]); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	if !root {
		return nil
	}
	for c := uintptr(0); ; c++ {
		switch err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); {
		case errors.Is(err, unix.EINVAL): // the kernel knows no more
			return nil
		case err != nil:
			return err
		}
	}
}
