package e2btest

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

// Runner makes machines: fresh, each with a daemon that answers, and none that can see another or the host.
type Runner interface {
	// Start makes a machine. One that could not be made whole is gone when the error is returned. Cancelling ctx ends the
	// making, not a machine already returned.
	Start(ctx context.Context) (Machine, error)
}

// Machine is what a sandbox runs in. It is safe for concurrent use.
type Machine interface {
	// Dial makes one connection to the machine's daemon, which speaks HTTP/1.1.
	Dial(ctx context.Context) (net.Conn, error)
	// Done is closed when the machine is gone, whoever ended it.
	Done() <-chan struct{}
	// Close ends the machine and waits until no process of it is left. Idempotent.
	Close() error
}

// daemon is the program in every machine, built from ./envd as its source is now, for this architecture.
var daemon = sync.OnceValues(func() ([]byte, error) {
	_, here, _, _ := runtime.Caller(0)
	dir, err := os.MkdirTemp("", "envd-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "envd")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=", "-o", out, "./envd")
	cmd.Dir = filepath.Dir(here)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH, "GOFLAGS=")
	if said, err := cmd.CombinedOutput(); err != nil {
		return nil, &buildError{err, said}
	}
	return os.ReadFile(out)
})

type buildError struct {
	err  error
	said []byte
}

func (e *buildError) Error() string { return "building envd: " + e.err.Error() + ": " + string(e.said) }

func (e *buildError) Unwrap() error { return e.err }
