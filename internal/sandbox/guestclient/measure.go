package guestclient

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// Ping is one round trip; with argv, the guest also forks, executes and waits for it and reports how long that took.
// It exists to measure what the protocol costs.
func (c *Client) Ping(ctx context.Context, argv ...string) (time.Duration, error) {
	return c.Measure(ctx, guestproto.Ping{Argv: argv}, 0)
}

// Measure sends so many bytes that mean nothing, takes those that p asks for, and tells how long the commands of p took.
func (c *Client) Measure(ctx context.Context, p guestproto.Ping, send int64) (time.Duration, error) {
	stream, done, err := c.open(ctx, guestproto.Request{Op: guestproto.OpPing, Ping: &p}, send == 0)
	if err != nil {
		return 0, err
	}
	defer done()
	buf := make([]byte, 4*guestproto.MaxChunk)
	for send > 0 && err == nil {
		var n int
		n, err = stream.Write(buf[:min(send, int64(len(buf)))])
		send -= int64(n)
	}
	if err == nil {
		err = stream.CloseWrite()
	}
	if err == nil {
		_, err = io.CopyBuffer(io.Discard, io.LimitReader(stream, p.Send), buf)
	}
	var reply guestproto.Reply
	if err == nil {
		err = guestproto.ReadMessage(stream, &reply)
	}
	switch {
	case err != nil:
		return 0, c.failed(ctx, err)
	case reply.Error != "":
		return 0, errors.New(reply.Error)
	}
	return reply.Took, nil
}
