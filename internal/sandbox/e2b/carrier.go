package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

// outOfReach is how long the guest may be out of reach before the sandbox counts as lost. It is less than a lease.
const outOfReach = 90 * time.Second

// dialGuest is the way to the guest, which outlives what carries it: each carrier is a process of its own in the sandbox,
// started anew when the one before was cut (docs/adr/0043-a-pipe-that-outlives-its-carrier.md).
func (b *box) dialGuest() *guestproto.Pipe {
	pipe := guestproto.DialPipe(b.dial, b.patience())
	go func() {
		select {
		case <-b.lost:
			pipe.Fail(b.reason())
		case <-b.life.Done():
			pipe.Close()
		}
	}()
	return pipe
}

func (b *box) patience() time.Duration { return cmp.Or(b.provider.patience, outOfReach) }

// dial starts one more carrier. Whatever goes wrong, E2B is asked whether there still is a sandbox.
func (b *box) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	b.provider.Client.CloseIdle()
	ctx, cancel := context.WithCancel(ctx)
	out, err := b.daemon.Start(ctx, client.Start{Cmd: guestPath, Args: []string{"attach"}, Dir: "/", Stdin: true})
	if err != nil {
		cancel()
		return nil, b.stillThere(ctx, err)
	}
	return &carrier{box: b, out: out, ctx: ctx, cancel: cancel}, nil
}

// stillThere adds guestproto.ErrGone to err when there is no sandbox any more.
func (b *box) stillThere(ctx context.Context, err error) error {
	if reason := b.reason(); reason != nil {
		return fmt.Errorf("%w: %w", guestproto.ErrGone, reason)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if _, failed := b.provider.Client.Get(ctx, b.id); errors.Is(failed, client.ErrNotFound) {
		b.gone(fmt.Errorf("%w: E2B has no sandbox %s any more", client.ErrLost, b.id))
		return fmt.Errorf("%w: %w", guestproto.ErrGone, b.reason())
	}
	return err
}

// carrier is a process in the sandbox whose standard streams are the guest's.
type carrier struct {
	box    *box
	out    *client.Stream
	ctx    context.Context
	cancel context.CancelFunc
	rest   []byte
	said   tail
	once   sync.Once
}

// Read gives what the guest says.
func (c *carrier) Read(b []byte) (int, error) {
	for len(c.rest) == 0 {
		ev, err := c.out.Next()
		if err != nil || ev.End != nil {
			return 0, c.over(ev.End, err)
		}
		c.said.add(ev.Stderr)
		c.rest = ev.Stdout
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// lastWords is how long the daemon may take to tell how joy-guest ended, when it is known that it has.
const lastWords = 5 * time.Second

// over is what the end of the carrier's process means, or of its stream. A process that found no guest to speak to would
// not find it later.
func (c *carrier) over(end *client.End, err error) error {
	said := c.said.String()
	switch {
	case strings.Contains(said, "reaching the guest"):
		select {
		case <-c.box.lost: // for a reason that says more
		case <-c.ctx.Done():
		case <-time.After(lastWords):
		}
		c.box.gone(fmt.Errorf("joy-guest is not there any more: %s", said))
		return fmt.Errorf("%w: %w", guestproto.ErrGone, c.box.reason())
	case err != nil:
		return c.box.stillThere(c.ctx, err)
	}
	return fmt.Errorf("the carrier ended: %s: %s", end.Status, said)
}

// rateTries is how often a request is repeated that was too many. Who would have it wait for longer than the guest may be
// out of reach is not waited for.
const rateTries = 5

// Write sends to the guest, in one request. One whose outcome is unknown ends the carrier: the next one sends again what
// did not arrive.
func (c *carrier) Write(b []byte) (int, error) {
	for try := 1; ; try++ {
		err := c.box.daemon.SendInput(c.ctx, c.out.PID(), b)
		if err == nil {
			return len(b), nil
		}
		var e *client.Error
		if errors.Is(err, client.ErrRate) && errors.As(err, &e) && try < rateTries && e.RetryAfter <= c.box.patience() &&
			sleep(c.ctx, max(e.RetryAfter, time.Second)) {
			continue
		}
		return 0, err
	}
}

// Close lets go of the process. The guest ends it when the next carrier comes, and the sandbox's end does in any case.
func (c *carrier) Close() error {
	c.once.Do(func() {
		c.cancel()
		c.out.Close()
	})
	return nil
}

// printable is a text as one line that a terminal can show.
func printable(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(text, "?"))), " ")
}
