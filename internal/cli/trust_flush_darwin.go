package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what a terminal has read and nobody has taken (FREAD is 1). That it is no terminal is no failure.
func forgetTyped(f *os.File) { _ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, 1) }
