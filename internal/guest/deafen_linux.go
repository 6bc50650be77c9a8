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
	// Go leaves those to C libraries, which would use them between threads. The commands inherit that they are
	// ignored, and a C library that wants one installs its own handler.
	for _, sig := range []uintptr{32, 33, 34} {
		action := struct {
			handler  uintptr
			flags    uint64
			restorer uintptr
			mask     uint64
		}{handler: 1} // SIG_IGN
		if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0); errno != 0 { //nolint:gosec // sigaction(2) takes a pointer
			return fmt.Errorf("ignoring signal %d: %w", sig, errno)
		}
	}
	return nil
}
