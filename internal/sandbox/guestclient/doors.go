package guestclient

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// maxDoors bounds the connections to the broker's door that one guest may hold open. An honest guest keeps further
// ones waiting (guestproto.MaxDoors); those of another guest are closed at once.
const maxDoors = guestproto.MaxDoors

// accept serves the streams that the guest opens, until the session ends.
func (c *Client) accept() {
	for {
		stream, err := c.session.AcceptStream()
		if err != nil {
			c.end(fmt.Errorf("the channel closed: %w", c.guard.why(err)))
			c.session.Close()
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
	conn := &doorConn{Conn: stream, closed: sync.OnceFunc(func() { close(closed) })}
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
	net.Conn
	closed func()
}

func (d *doorConn) Close() error {
	defer d.closed()
	return d.Conn.Close()
}

// CloseWrite tells the other end that nothing more will be written; reading goes on.
func (d *doorConn) CloseWrite() error { return d.Conn.Close() }
