package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// forgetTyped drops what a console has read and nobody has taken. That it is no console is no failure.
func forgetTyped(f *os.File) { _ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
