package guest

import (
	"fmt"
	"os"
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deafen lets no signal of the workload end its PID 1. The kernel spares a namespace's init the signals whose action is
// the default, but not while the thread that a signal is judged by has it blocked, as the one that forks has for a
// moment: then any other thread takes the whole process down. So no signal may keep the default action.
func deafen() error {
	signal.Notify(make(chan os.Signal, 1)) // a handler for all that Go handles
	// Go leaves those to C libraries, which would use them between threads.
	for _, sig := range []unix.Signal{32, 33, 34} {
		if err := setAction(sig, actionIgnore); err != nil {
			return err
		}
	}
	// Whose parent ignores this one is reaped by the kernel (sigaction(2)).
	return setAction(unix.SIGCHLD, actionIgnore)
}

// Actions of a signal, as the kernel counts them.
const (
	actionDefault = 0
	actionIgnore  = 1
)

// setAction sets what a signal does, for signals that Go has no use for. Go would catch them otherwise, which wakes a
// thread.
func setAction(sig unix.Signal, handler uintptr) error {
	action := struct {
		handler  uintptr
		flags    uint64
		restorer uintptr
		mask     uint64
	}{handler: handler}
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0) //nolint:gosec // sigaction(2) takes a pointer
	if errno != 0 {
		return fmt.Errorf("setting the action of signal %d: %w", sig, errno)
	}
	return nil
}
