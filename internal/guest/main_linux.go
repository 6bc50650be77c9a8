package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// The first thread of the program can only end with it: it stays the main goroutine's, so that no forker is on it.
func init() { runtime.LockOSThread() }

// Main is joy-guest: PID 1 of a VM, a guest in somebody else's VM, the keeper of a world, or the command that a step finds
// on its PATH.
func Main(args []string, stderr io.Writer) int {
	switch {
	case os.Getpid() == 1 && len(args) > 0 && args[0] == keeperName:
		return report(keep(), stderr)
	case os.Getpid() == 1 && len(args) > 0 && args[0] == hostedName:
		return report(hosted(args[1:], os.Stdin, os.Stdout), stderr)
	}
	if do, ok := hostedCommand(args); ok { // PID 1 of a container, too
		return report(do(), stderr)
	}
	switch {
	case os.Getpid() == 1:
		Init()
		return 1
	default:
		c := &caller{stdin: os.Stdin, stdout: os.Stdout, stderr: stderr, getenv: os.Getenv}
		return c.run(args[min(1, len(args)):])
	}
}

// report says what went wrong and gives the exit code. The end of what it was connected to is nothing wrong.
func report(err error, stderr io.Writer) int {
	if err == nil || errors.Is(err, io.EOF) {
		return 0
	}
	fmt.Fprintln(stderr, "joy-guest:", err)
	return 1
}

// knownCalls are the denied calls that this architecture has; the filter refuses a name it does not know.
func knownCalls() []string {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil
	}
	var names []string
	for _, name := range deniedCalls {
		if _, ok := info.SyscallNames[name]; ok {
			names = append(names, name)
		}
	}
	return names
}
