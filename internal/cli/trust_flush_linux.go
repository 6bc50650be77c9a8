package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what a terminal has read and nobody has taken. That it is no terminal is no failure.
func forgetTyped(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
