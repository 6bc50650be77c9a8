package broker

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// doors makes one net.Listener of the connections that come from the doors of all steps, and can cut those of one.
type doors struct {
	incoming chan net.Conn
	done     chan struct{}
	close    func()
	garbled  func(step string) // told of a connection that ended with what is no request

	mu     sync.Mutex
	open   map[*doorConn]bool
	closed bool
}

// doorConn remembers at which step's door it was made. The step comes from the host, never from the request.
type doorConn struct {
	net.Conn
	step   string
	doors  *doors
	unread atomic.Bool // bytes have come that are not known to be a request
	cut    atomic.Bool // ended from this side, whatever it was about to say
}

func newDoors(garbled func(step string)) *doors {
	d := &doors{incoming: make(chan net.Conn), done: make(chan struct{}), garbled: garbled, open: map[*doorConn]bool{}}
	d.close = sync.OnceFunc(func() { close(d.done) })
	return d
}

func (d *doors) add(step string, conn net.Conn) {
	c := &doorConn{Conn: conn, step: step, doors: d}
	d.mu.Lock()
	late := d.closed
	if !late {
		d.open[c] = true
	}
	d.mu.Unlock()
	if late {
		conn.Close()
		return
	}
	select {
	case d.incoming <- c:
	case <-d.done:
		c.Close()
	}
}

// cut ends the connections made at step's door.
func (d *doors) cut(step string) {
	d.end(func(c *doorConn) bool { return c.step == step })
}

func (d *doors) end(which func(*doorConn) bool) {
	d.mu.Lock()
	var list []*doorConn
	for c := range d.open {
		if which(c) {
			list = append(list, c)
		}
	}
	d.mu.Unlock()
	for _, c := range list {
		c.cut.Store(true)
		c.Close()
	}
}

// Close records what was no request before whoever sent it can see that it is over. The server answers that itself,
// and nothing else here would ever know.
func (c *doorConn) Close() error {
	c.doors.mu.Lock()
	delete(c.doors.open, c)
	c.doors.mu.Unlock()
	if c.unread.Swap(false) && !c.cut.Load() {
		c.doors.garbled(c.step)
	}
	return c.Conn.Close()
}

// heard is the server's ConnState: it comes when bytes have arrived, before they are known to be a request.
func heard(conn net.Conn, state http.ConnState) {
	if c, ok := conn.(*doorConn); ok && state == http.StateActive {
		c.unread.Store(true)
	}
}

type connKey struct{}

// understood is told of every request that was read whole.
func understood(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*doorConn); ok {
			c.unread.Store(false)
		}
		next.ServeHTTP(w, r)
	})
}

// doorOf puts a connection and its step into the context of its requests.
func doorOf(ctx context.Context, conn net.Conn) context.Context {
	if c, ok := conn.(*doorConn); ok {
		return context.WithValue(context.WithValue(ctx, connKey{}, c), doorKey{}, c.step)
	}
	return ctx
}

// Accept, Addr and Close make a net.Listener.
func (d *doors) Accept() (net.Conn, error) {
	select {
	case c := <-d.incoming:
		return c, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

// Close ends every connection too, those that the server has not seen yet among them.
func (d *doors) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.close()
	d.end(func(*doorConn) bool { return true })
	return nil
}

func (d *doors) Addr() net.Addr { return doorAddr{} }

type doorAddr struct{}

func (doorAddr) Network() string { return "joy" }
func (doorAddr) String() string  { return "door" }
