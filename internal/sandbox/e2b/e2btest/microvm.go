package e2btest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
)

// MicroVM makes each machine a VM of joy's own provider, in which envd has the place of joy-guest. Its root file system is
// a disk with what is in the image, and nothing is mounted, confined or limited there that a fresh Linux system has not:
// root has every capability, and cgroups have their controllers. The zero value of a field means its default.
type MicroVM struct {
	Provider *microvm.Provider // its Guest is not looked at ({Accel: $JOY_ACCEL})
	Image    string            // a digest, sha256:… (the tiny image)
	CPUs     int               // 2
	Memory   policy.Size       // 512 MiB
	Disk     policy.Size       // 1 GiB
}

// Start boots a VM; see Runner.
func (r MicroVM) Start(ctx context.Context) (Machine, error) {
	guest, err := daemon()
	if err != nil {
		return nil, err
	}
	p := microvm.Provider{Accel: os.Getenv("JOY_ACCEL"), Guest: guest}
	if r.Provider != nil {
		p = *r.Provider
		p.Guest = guest
	}
	if r.Image == "" {
		if r.Image, err = tiny(p.CacheDir); err != nil {
			return nil, err
		}
	}
	sb, err := p.Create(ctx, sandbox.Spec{
		Run: "e2btest", Image: r.Image, Isolation: "any", Start: "cold", CPUs: or(r.CPUs, 2),
		Memory: or(r.Memory, 512<<20), Disk: or(r.Disk, 1<<30),
	})
	if err != nil {
		return nil, err
	}
	m := &vm{sandbox: sb, done: make(chan struct{})}
	if m.world, err = sb.Open(ctx, sandbox.WorldSpec{ID: "machine"}); err != nil {
		return nil, errors.Join(err, sb.Destroy(context.WithoutCancel(ctx)))
	}
	go func() {
		select {
		case <-sb.Lost():
			m.once.Do(func() { close(m.done) })
		case <-m.done:
		}
	}()
	return m, nil
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

// tiny is the digest of the tiny image on this machine.
func tiny(cache string) (string, error) {
	var err error
	if cache == "" {
		if cache, err = image.DefaultCacheDir(os.Getenv); err != nil {
			return "", err
		}
	}
	img, err := image.Latest(cache, "tiny")
	if err != nil {
		return "", fmt.Errorf("run script/test once, which builds the image: %w", err)
	}
	return img.Digest(), nil
}

// vm is a machine that is a VM.
type vm struct {
	sandbox sandbox.Sandbox
	world   sandbox.World
	once    sync.Once
	done    chan struct{}
}

// Dial makes a connection that the VM sees as a command: its input is what is sent, its output what comes back.
func (m *vm) Dial(context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go func() { //nolint:gosec // the connection outlives the call that made it
		defer theirs.Close()
		cmd := sandbox.Command{Argv: []string{"connection"}, Stdin: theirs}
		_, _ = m.world.Run(context.Background(), cmd, theirs, io.Discard) // whatever it was, the connection is closed
	}()
	return ours, nil
}

func (m *vm) Done() <-chan struct{} { return m.done }

// Close ends the VM.
func (m *vm) Close() error {
	err := m.sandbox.Destroy(context.Background())
	m.once.Do(func() { close(m.done) })
	return err
}
