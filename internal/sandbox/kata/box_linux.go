package kata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	containerd "github.com/containerd/containerd/v2/client"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// box is one VM: the guest's session and the container that carries it.
type box struct {
	*guestclient.Client
	provider  *Provider
	client    *store
	class     class
	kernel    string // bootID
	spec      sandbox.Spec
	container string
	scratch   *disk
	task      containerd.Task
	asked     bool // for a task
	wire      *wire
	info      sandbox.Info
	short     []string // what the VM has less of than the plan asks for

	mu        sync.Mutex
	said      []byte // the end of what the guest wrote on stderr
	exit      string // how its process ended
	destroyed bool
}

func (b *box) Info() sandbox.Info { return b.info }

// lastWords bounds what is kept of the guest's stderr.
const lastWords = 1 << 10

// listen keeps what the guest says besides the protocol, which is nothing unless it fails.
func (b *box) listen(stderr io.ReadCloser) {
	defer stderr.Close()
	buf := make([]byte, lastWords)
	for {
		n, err := stderr.Read(buf)
		b.mu.Lock()
		b.said = append(b.said, buf[:n]...)
		b.said = b.said[max(0, len(b.said)-lastWords):]
		b.mu.Unlock()
		if b.spec.Console != nil && n > 0 {
			_, _ = b.spec.Console.Write(buf[:n])
		}
		if err != nil {
			return
		}
	}
}

// watch notes how the guest's process ended. That containerd went away says nothing about it.
func (b *box) watch(exit <-chan containerd.ExitStatus) {
	status := <-exit
	code, _, err := status.Result()
	if err != nil {
		return
	}
	b.mu.Lock()
	b.exit = fmt.Sprintf("its process ended with status %d", code)
	b.mu.Unlock()
}

// withLastWords adds to an error what is known of the guest's end.
func (b *box) withLastWords(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.exit != "" {
		err = fmt.Errorf("%w; %s", err, b.exit)
	}
	if len(b.said) > 0 {
		err = fmt.Errorf("%w; it said %q", err, b.said)
	}
	return err
}

// askLimit bounds the question what became of a VM.
const askLimit = 2 * time.Second

// Err says why the VM is gone: what containerd knows, when it knows something.
func (b *box) Err() error {
	err := b.Client.Err()
	if err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	if state, asked := b.client.state(ctx, b.container); asked == nil && state != "running" {
		err = fmt.Errorf("%w; containerd's task is %s", err, state)
	}
	return fmt.Errorf("%w: %w", sandbox.ErrLost, b.withLastWords(err))
}

// Destroy ends the session, so that its end is not taken for a loss, and then the VM.
func (b *box) Destroy(ctx context.Context) error {
	b.mu.Lock()
	destroyed := b.destroyed
	b.mu.Unlock()
	if destroyed {
		return nil
	}
	_ = b.Client.Close()
	if err := b.end(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.destroyed = true
	return errors.Join(b.client.Close())
}

// end ends whatever has been made.
func (b *box) end(ctx context.Context) error {
	if b.wire != nil {
		b.wire.Close()
	}
	if b.scratch != nil {
		_ = b.scratch.Close()
	}
	return b.provider.end(ctx, b.client, b.container)
}
