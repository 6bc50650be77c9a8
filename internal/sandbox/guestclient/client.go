// Package guestclient is the host's side of the guest protocol: one session with joy-guest, whatever carries its bytes.
// Every provider stands on it and adds only the way to the byte stream.
//
// The one rule: the guest is hostile. Whatever it sends is bounded, an answer that is not of the protocol ends the
// session, and a world is known by the host's own table, never by what the guest says.
package guestclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// errClosed is the cause of an end that the host wanted.
var errClosed = errors.New("closed")

// Client is one session. It is safe for concurrent use.
type Client struct {
	session *guestproto.Session
	boot    guestproto.Boot
	files   Files // nil: all goes through the session
	door    func(world string, conn net.Conn)
	doors   chan struct{} // a place for each open door

	killGrace, stuckWait time.Duration

	mu     sync.Mutex
	worlds map[string]*world
	cause  error
	ended  chan struct{} // closed with cause, whatever it is
	lost   chan struct{} // closed with cause, unless that is errClosed
}

// New takes over conn, whose guest has said it is ready (AwaitReady), and brings it to life. door is
// sandbox.Spec.Door. Close ends the session and closes conn; New has done so when it fails.
func New(ctx context.Context, conn io.ReadWriteCloser, door func(string, net.Conn)) (*Client, error) {
	return NewBounded(ctx, conn, door, guestproto.Bounds{})
}

// NewBounded is New for a VM that may be larger than what was asked for.
func NewBounded(ctx context.Context, conn io.ReadWriteCloser, door func(string, net.Conn), bounds guestproto.Bounds) (*Client, error) {
	c := attach(conn, door)
	if err := c.start(ctx, bounds); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func attach(conn io.ReadWriteCloser, door func(string, net.Conn)) *Client {
	c := &Client{
		door: door, doors: make(chan struct{}, maxDoors), killGrace: killGrace, stuckWait: stuckWait,
		worlds: map[string]*world{}, ended: make(chan struct{}), lost: make(chan struct{}),
	}
	c.session = guestproto.NewSession(conn, true, c.accept)
	go func() {
		switch err := c.session.Serve(); {
		case errors.Is(err, guestproto.ErrBroken):
			c.end(fmt.Errorf("the guest broke the protocol: %w", err))
		default:
			c.end(fmt.Errorf("the channel closed: %w", err))
		}
	}()
	return c
}

func (c *Client) start(ctx context.Context, bounds guestproto.Bounds) error {
	entropy := make([]byte, 64)
	if _, err := rand.Read(entropy); err != nil {
		return err
	}
	reply, err := c.call(ctx, guestproto.Request{Op: guestproto.OpStart, Start: &guestproto.Start{
		Time: time.Now().UnixNano(), Entropy: entropy, Bounds: bounds,
	}}, nil)
	if err != nil {
		return err
	}
	if reply.Boot == nil {
		return c.broken(errors.New("it did not say what it found"))
	}
	c.boot = *reply.Boot
	return nil
}

// AwaitReady reads the guest's ready line. It reads no byte beyond it.
func AwaitReady(r io.Reader) error {
	line := make([]byte, 0, len(guestproto.Ready))
	one := make([]byte, 1)
	for len(line) < len(guestproto.Ready) {
		if _, err := io.ReadFull(r, one); err != nil {
			return err
		}
		line = append(line, one[0])
		if !strings.HasPrefix(guestproto.Ready, string(line)) {
			return fmt.Errorf("the guest speaks another protocol: it began with %q", line)
		}
	}
	return nil
}

// Boot is what the guest found when it started.
func (c *Client) Boot() guestproto.Boot { return c.boot }

// Lost is closed when the session has ended and Close was not the cause; Err then says why.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Err is why the session was lost, or nil.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.cause, errClosed) {
		return nil
	}
	return c.cause
}

// Close ends the session: the guest powers off. Calls in progress fail with sandbox.ErrLost. Idempotent.
func (c *Client) Close() error {
	c.end(errClosed)
	return c.session.Close()
}

// end records why the session ended, once.
func (c *Client) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause != nil {
		return
	}
	c.cause = cause
	close(c.ended)
	if !errors.Is(cause, errClosed) {
		close(c.lost)
	}
}

// Fail ends the session for a cause that only the provider can see: the guest will not answer again.
func (c *Client) Fail(cause error) {
	c.end(cause)
	c.session.Close()
}

// broken ends a session whose guest does not keep the protocol.
func (c *Client) broken(err error) error {
	c.end(fmt.Errorf("the guest broke the protocol: %w", err))
	c.session.Close()
	return c.gone()
}

// gone is the error of every call after the end.
func (c *Client) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("%w: %w", sandbox.ErrLost, c.cause)
}
