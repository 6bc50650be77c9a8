package e2b

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// box is one sandbox: the guest's session, the process that the guest is, and the lease.
type box struct {
	*guestclient.Client
	provider *Provider
	id       string
	daemon   *client.Daemon
	guest    int // pid of its process
	info     sandbox.Info

	life   context.Context // until Destroy
	cancel context.CancelCauseFunc
	lost   chan struct{} // closed with why

	mu        sync.Mutex
	why       error // the sandbox is gone, or the guest is
	destroyed bool
}

func (b *box) Info() sandbox.Info { return b.info }

// Err says why the sandbox is lost: what E2B said, when it said something.
func (b *box) Err() error {
	err := b.Client.Err()
	if err == nil {
		return nil
	}
	if why := b.reason(); why != nil {
		err = why
	}
	return b.provider.explain(fmt.Errorf("%w: %w", sandbox.ErrLost, err))
}

// gone notes why the sandbox cannot answer any more; the first reason counts. Whoever waits for it learns it.
func (b *box) gone(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why == nil && b.life.Err() == nil {
		b.why = why
		close(b.lost)
	}
}

func (b *box) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// Destroy closes the session, so that the end is not taken for a loss, and ends the sandbox. E2B's word that there is none
// of its id is the verification.
func (b *box) Destroy(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.destroyed {
		return nil
	}
	_ = b.Client.Close()
	b.cancel(errors.New("the sandbox was destroyed"))
	err := b.provider.end(ctx, b.id)
	b.destroyed = err == nil
	return err
}

// guestPath is where joy-guest is put; it is on every PATH.
const guestPath = "/usr/local/bin/joy-guest"

// bootScript makes what was sent a program and becomes it.
const bootScript = `chmod 0755 "$0" && exec "$0" host`

// startGuest starts joy-guest in the sandbox and waits until it listens. Its process belongs to E2B's daemon; what it says
// afterwards is read to its end, and its end is the sandbox's.
func (b *box) startGuest(ctx context.Context) error {
	out, err := b.daemon.Start(b.life, client.Start{Cmd: "/bin/sh", Args: []string{"-c", bootScript, guestPath}, Dir: "/"})
	if err != nil {
		return err
	}
	b.guest = out.PID()
	stop := context.AfterFunc(ctx, func() { out.Close() })
	defer stop()
	said := &tail{}
	for {
		ev, err := out.Next()
		switch {
		case err != nil:
			out.Close()
			return errors.Join(ctx.Err(), err)
		case ev.End != nil:
			out.Close()
			return fmt.Errorf("joy-guest does not run in the template: %s: %s", ev.End.Status, said)
		}
		said.add(ev.Stderr)
		if bytes.Contains(ev.Stdout, []byte("joy-guest waits\n")) {
			go b.watchGuest(out, said)
			return nil
		}
	}
}

// watchGuest reads what the guest's process says until it ends. A stream that is cut says nothing about the process.
func (b *box) watchGuest(out *client.Stream, said *tail) {
	defer out.Close()
	for {
		ev, err := out.Next()
		switch {
		case err != nil:
			return
		case ev.End != nil:
			b.gone(fmt.Errorf("joy-guest ended in the sandbox: %s: %s", ev.End.Status, said))
			return
		}
		said.add(ev.Stderr)
	}
}

// tail keeps the last words of a process, as one printable line.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

const tailSize = 1 << 10

func (t *tail) add(b []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return printable(string(t.buf))
}
