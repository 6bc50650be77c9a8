package broker

import (
	"net"
	"sync"
)

// doors makes one net.Listener of the connections that come from the doors of all steps, and can cut those of one.
type doors struct {
	incoming chan net.Conn
	done     chan struct{}
	close    func()

	mu     sync.Mutex
	open   map[*doorConn]bool
	closed bool
}

// doorConn remembers at which step's door it was made. The step comes from the host, never from the request.
type doorConn struct {
	net.Conn
	step  string
	doors *doors
}

func newDoors() *doors {
	d := &doors{incoming: make(chan net.Conn), done: make(chan struct{}), open: map[*doorConn]bool{}}
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
		c.Close()
	}
}

func (c *doorConn) Close() error {
	c.doors.mu.Lock()
	delete(c.doors.open, c)
	c.doors.mu.Unlock()
	return c.Conn.Close()
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
