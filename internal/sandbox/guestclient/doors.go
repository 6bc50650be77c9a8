package guestclient

import (
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// maxDoors bounds the connections to the broker's door that one guest may hold open. An honest guest keeps further
// ones waiting (guestproto.MaxDoors); those of another guest are closed at once.
const maxDoors = guestproto.MaxDoors

// accept takes a stream that the guest opened.
func (c *Client) accept(stream *guestproto.Stream) {
	select {
	case c.doors <- struct{}{}:
		go c.serveDoor(stream)
	default:
		go stream.Close() // it writes, and the goroutine that reads the channel must not
	}
}

// serveDoor hands one connection to the broker. The guest names the world; a name that the host has not opened is
// refused, and the broker asks for that world's token in any case.
func (c *Client) serveDoor(stream *guestproto.Stream) {
	defer func() { <-c.doors }()
	defer stream.Close()
	_ = stream.SetReadDeadline(time.Now().Add(time.Minute))
	var req guestproto.Request
	if err := guestproto.ReadMessage(stream, &req); err != nil || req.Op != guestproto.OpDoor || c.door == nil {
		return
	}
	_ = stream.SetReadDeadline(time.Time{})
	c.mu.Lock()
	w := c.worlds[req.World]
	c.mu.Unlock()
	if w == nil {
		return
	}
	closed := make(chan struct{})
	conn := &doorConn{Stream: stream, closed: sync.OnceFunc(func() { close(closed) })}
	go c.door(req.World, conn)
	select {
	case <-closed:
	case <-w.closing:
	case <-c.ended:
	}
	_ = stream.SetDeadline(time.Unix(1, 0))
}

// doorConn tells when the broker has closed its connection.
type doorConn struct {
	*guestproto.Stream
	closed func()
}

func (d *doorConn) Close() error {
	defer d.closed()
	return d.Stream.Close()
}
