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

	"github.com/hashicorp/yamux"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// MaxDoors bounds the connections to the broker's door that one guest may hold open.
const MaxDoors = 256

// Reserve is the memory that all worlds together leave to the guest itself.
const Reserve = 64 << 20

// worldPids bounds the processes of one world.
const worldPids = 4096

// Client is one session. It is safe for concurrent use.
type Client struct {
	session *yamux.Session
	boot    guestproto.Boot
	door    func(world string, conn net.Conn)
	doors   chan struct{} // a place for each open door

	mu     sync.Mutex
	worlds map[string]*world
	lost   chan struct{}
	cause  error
}

// New takes over conn, whose guest has said it is ready (AwaitReady), and brings it to life. door is
// sandbox.Spec.Door. Close ends the session and closes conn, also when New fails.
func New(ctx context.Context, conn io.ReadWriteCloser, door func(string, net.Conn)) (*Client, error) {
	session, err := yamux.Client(conn, guestproto.Session())
	if err != nil {
		conn.Close()
		return nil, err
	}
	c := &Client{
		session: session, door: door, doors: make(chan struct{}, MaxDoors),
		worlds: map[string]*world{}, lost: make(chan struct{}),
	}
	go c.accept()
	entropy := make([]byte, 64)
	if _, err := rand.Read(entropy); err != nil {
		session.Close()
		return nil, err
	}
	reply, err := c.call(ctx, guestproto.Request{Op: guestproto.OpStart, Start: &guestproto.Start{
		Time: time.Now().UnixNano(), Entropy: entropy, Reserve: Reserve, Pids: worldPids,
	}}, nil)
	if err == nil && reply.Boot == nil {
		err = c.broken(errors.New("it did not say what it found"))
	}
	if err != nil {
		session.Close()
		return nil, err
	}
	c.boot = *reply.Boot
	return c, nil
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

// Lost is closed when the session has ended, Close included; Err says why.
func (c *Client) Lost() <-chan struct{} { return c.lost }

// Err is why the session ended, or nil.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Close ends the session: the guest powers off. Calls in progress fail with sandbox.ErrLost.
func (c *Client) Close() error {
	c.end(errors.New("closed"))
	return c.session.Close()
}

// accept serves the streams that the guest opens, until the session ends. A guest that opens anything but doors, or
// too many, is broken.
func (c *Client) accept() {
	for {
		stream, err := c.session.AcceptStream()
		if err != nil {
			c.end(fmt.Errorf("the channel closed: %w", err))
			return
		}
		select {
		case c.doors <- struct{}{}:
			go c.serveDoor(stream)
		default:
			stream.Close()
		}
	}
}

// serveDoor hands one connection to the broker. The guest names the world; a name that the host has not opened is
// refused, and the broker asks for that world's token in any case.
func (c *Client) serveDoor(stream net.Conn) {
	defer func() { <-c.doors }()
	_ = stream.SetReadDeadline(time.Now().Add(time.Minute))
	var req guestproto.Request
	err := guestproto.ReadMessage(stream, &req)
	_ = stream.SetReadDeadline(time.Time{})
	c.mu.Lock()
	_, known := c.worlds[req.World]
	c.mu.Unlock()
	if err != nil || req.Op != guestproto.OpDoor || !known || c.door == nil {
		stream.Close()
		return
	}
	done := make(chan struct{})
	c.door(req.World, &doorConn{Conn: stream, closed: sync.OnceFunc(func() { close(done) })})
	select {
	case <-done:
	case <-c.lost:
	}
}

// doorConn tells when the broker has closed its connection.
type doorConn struct {
	net.Conn
	closed func()
}

func (d *doorConn) Close() error {
	d.closed()
	return d.Conn.Close()
}

// end records why the session ended, once.
func (c *Client) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
		close(c.lost)
	}
}

// broken ends a session whose guest does not keep the protocol.
func (c *Client) broken(err error) error {
	c.end(fmt.Errorf("the guest broke the protocol: %w", err))
	c.session.Close()
	return c.gone()
}

// gone is the error of every call after the end.
func (c *Client) gone() error {
	return fmt.Errorf("%w: %w", sandbox.ErrLost, c.Err())
}

// open starts a request on a stream of its own. The stream is closed when ctx is cancelled, unless stop is called.
func (c *Client) open(ctx context.Context, req guestproto.Request) (stream *yamux.Stream, stop func() bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	stream, err = c.session.OpenStream()
	if err != nil {
		c.end(fmt.Errorf("the channel closed: %w", err))
		return nil, nil, c.gone()
	}
	if err := guestproto.WriteMessage(stream, req); err != nil {
		stream.Close()
		return nil, nil, c.failed(ctx, err)
	}
	stop = context.AfterFunc(ctx, func() { _ = stream.SetDeadline(time.Unix(1, 0)) })
	return stream, stop, nil
}

// failed turns an error on a stream into what the caller may know: ctx's own, or that the VM is gone. A stream that
// ends in the middle while the session lives is a broken guest.
func (c *Client) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if c.session.IsClosed() {
		c.end(fmt.Errorf("the channel closed: %w", err))
		return c.gone()
	}
	return c.broken(err)
}

// call makes one request and reads its reply; body, when given, follows the request.
func (c *Client) call(ctx context.Context, req guestproto.Request, body func(io.Writer) error) (guestproto.Reply, error) {
	var reply guestproto.Reply
	stream, stop, err := c.open(ctx, req)
	if err != nil {
		return reply, err
	}
	defer stream.Close()
	defer stop()
	// The reply may come before the body is through: the guest refuses, and stops reading.
	sent := make(chan error, 1)
	if body == nil {
		sent <- nil
	} else {
		go func() { sent <- body(stream) }()
	}
	if err := guestproto.ReadMessage(stream, &reply); err != nil {
		if body != nil {
			stream.Close()
			if mine := <-sent; mine != nil && !errors.Is(mine, yamux.ErrStreamClosed) && !c.session.IsClosed() && ctx.Err() == nil {
				return reply, mine
			}
		}
		return reply, c.failed(ctx, err)
	}
	if reply.Error != "" {
		return reply, errors.New(reply.Error)
	}
	return reply, <-sent
}

// Ping is one round trip; with argv, the guest also forks, executes and waits for it and reports how long that took.
// It exists to measure what the protocol costs.
func (c *Client) Ping(ctx context.Context, argv ...string) (time.Duration, error) {
	reply, err := c.call(ctx, guestproto.Request{Op: guestproto.OpPing, Ping: &guestproto.Ping{Argv: argv}}, nil)
	return reply.Took, err
}
