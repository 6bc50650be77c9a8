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

	mu   sync.Mutex
	open map[*doorConn]bool
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
	d.open[c] = true
	d.mu.Unlock()
	select {
	case d.incoming <- c:
	case <-d.done:
		c.Close()
	}
}

func (d *doors) cut(step string) {
	d.mu.Lock()
	var mine []*doorConn
	for c := range d.open {
		if c.step == step {
			mine = append(mine, c)
		}
	}
	d.mu.Unlock()
	for _, c := range mine {
		c.Close()
	}
}

func (c *doorConn) Close() error {
	c.doors.mu.Lock()
	delete(c.doors.open, c)
	c.doors.mu.Unlock()
	return c.Conn.Close()
}

// Accept, Close and Addr make a net.Listener.
func (d *doors) Accept() (net.Conn, error) {
	select {
	case c := <-d.incoming:
		return c, nil
	case <-d.done:
		return nil, net.ErrClosed
	}
}

func (d *doors) Close() error {
	d.close()
	return nil
}

func (d *doors) Addr() net.Addr { return doorAddr{} }

type doorAddr struct{}

func (doorAddr) Network() string { return "joy" }
func (doorAddr) String() string  { return "door" }
