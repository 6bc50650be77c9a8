package guestclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// stuckWait is how long a call may go on after its ctx has ended. Only a guest that takes nothing from the channel any
// more can hold it that long, and its session is then ended.
const stuckWait = 30 * time.Second

// refusal is the guest's word that it did not do what was asked: no failure of the channel.
type refusal struct{ msg string }

func (r *refusal) Error() string { return r.msg }

// open starts a request on a stream of its own; last says that nothing follows it. Reading and writing fail once ctx
// has ended. done closes the stream and must be called.
func (c *Client) open(ctx context.Context, req guestproto.Request, last bool) (stream *guestproto.Stream, done func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	first, err := guestproto.EncodeMessage(req)
	if errors.Is(err, guestproto.ErrTooLarge) {
		return nil, nil, fmt.Errorf("more than %d bytes in one request", guestproto.MaxMessage)
	}
	if err != nil {
		return nil, nil, err
	}
	finished := make(chan struct{})
	watch := context.AfterFunc(ctx, func() { c.endWhenStuck(finished) })
	finish := func() { watch(); close(finished) }
	s, err := c.session.Open(first, last)
	if err != nil {
		err = c.failed(ctx, err)
		finish()
		return nil, nil, err
	}
	cut := context.AfterFunc(ctx, func() { _ = s.SetDeadline(time.Unix(1, 0)) })
	return s, func() { cut(); s.Close(); finish() }, nil
}

func (c *Client) endWhenStuck(finished <-chan struct{}) {
	limit := time.NewTimer(c.stuckWait)
	defer limit.Stop()
	select {
	case <-finished:
	case <-limit.C:
		_ = c.broken(fmt.Errorf("nothing taken from the channel for %s", c.stuckWait))
	}
}

// failed turns an error on a stream into what the caller may know: ctx's own, or that the VM is gone. A stream that
// ends in the middle while the session lives is a broken guest.
func (c *Client) failed(ctx context.Context, err error) error {
	if c.session.Err() != nil {
		<-c.ended // Serve knows why
		return c.gone()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return c.broken(err)
}

// call makes one request and reads its reply; body, when given, follows the request and has ended when call returns.
func (c *Client) call(ctx context.Context, req guestproto.Request, body func(io.Writer) error) (guestproto.Reply, error) {
	var reply guestproto.Reply
	stream, done, err := c.open(ctx, req, body == nil)
	if err != nil {
		return reply, err
	}
	defer done()
	out := &bodyWriter{stream: stream}
	sent := make(chan error, 1)
	if body == nil {
		sent <- nil
	} else {
		go func() {
			err := body(out)
			_ = stream.CloseWrite() // also of half a body: the guest then answers
			sent <- err
		}()
	}
	err = guestproto.ReadMessage(stream, &reply)
	if err != nil || reply.Error != "" {
		stream.Close() // a guest that refuses has stopped reading
	}
	mine := <-sent
	switch {
	case err != nil:
		return reply, c.failed(ctx, err)
	case mine != nil && !out.failed:
		return reply, mine
	case reply.Error != "":
		return reply, &refusal{reply.Error}
	case mine != nil:
		return reply, c.failed(ctx, mine)
	}
	return reply, nil
}

// bodyWriter tells the stream's own failures from those of whoever writes the body.
type bodyWriter struct {
	stream io.Writer
	failed bool
}

func (b *bodyWriter) Write(p []byte) (int, error) {
	n, err := b.stream.Write(p)
	if err != nil {
		b.failed = true
	}
	return n, err
}
