package guest

import (
	"errors"
	"io"
	"net"
	"time"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// doorBuffer is the size of the socket buffers on the guest's side of a connection: the kernel would let them grow, in
// memory that no world pays for.
const doorBuffer = 64 << 10

// serveDoor relays each connection made to the world's door to the host, as a stream that names the world. The world
// is known by the listener, never by what the connection says. It accepts only what it may carry at once; the rest
// waits in the listener's backlog.
func (a *agent) serveDoor(w *world) {
	mine := make(chan struct{}, guestproto.WorldDoors)
	for {
		mine <- struct{}{}
		conn, err := w.door.Accept()
		switch {
		case err == nil:
			a.doors <- struct{}{}
			go func() {
				defer func() { <-a.doors; <-mine }()
				a.relay(w.id, conn)
			}()
		case errors.Is(err, net.ErrClosed):
			return
		default:
			<-mine
			time.Sleep(10 * time.Millisecond) // out of descriptors, and it passes
		}
	}
}

func (a *agent) relay(world string, conn net.Conn) {
	defer conn.Close()
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tcp.SetReadBuffer(doorBuffer)
	_ = tcp.SetWriteBuffer(doorBuffer)
	first, err := guestproto.EncodeMessage(guestproto.Request{Op: guestproto.OpDoor, World: world})
	if err != nil {
		return
	}
	stream, err := a.session.Open(first, false)
	if err != nil {
		return
	}
	defer stream.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(stream, conn)
		_ = stream.CloseWrite() // the answer may still come
	}()
	_, _ = io.Copy(conn, stream)
	_ = tcp.CloseWrite()
	<-done
}
