package guestclient

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/yamux"
)

// maxStreams bounds the streams of one session, those that the host opened and those half closed included. Each may
// hold a window (256 KiB) of what the guest sent.
const maxStreams = 1024

// Of yamux's frames (https://github.com/hashicorp/yamux/blob/master/spec.md): version, type, flags, stream, length.
const (
	headerSize   = 12
	typeData     = 0
	typeWindow   = 1
	flagSYN      = 1
	maxDataFrame = 256 << 10 // the window of a stream
)

// guard looks at the head of every frame before yamux does. yamux trusts its peer in two ways that a hostile one could
// use to exhaust the host: it answers each ping on a goroutine of its own, and it keeps every stream that is opened.
type guard struct {
	io.ReadWriteCloser
	session atomic.Pointer[yamux.Session]
	head    [headerSize]byte
	have    int    // bytes of head
	body    uint32 // bytes of the frame's body still to come
	cause   atomic.Pointer[error]
}

// why is the error that ended reading, or else err.
func (g *guard) why(err error) error {
	if cause := g.cause.Load(); cause != nil {
		return *cause
	}
	return err
}

// Read is called by yamux's one receiving goroutine. An error here ends the session.
func (g *guard) Read(p []byte) (int, error) {
	n, err := g.ReadWriteCloser.Read(p)
	if err != nil {
		g.cause.CompareAndSwap(nil, &err)
	}
	for rest := p[:n]; len(rest) > 0; {
		if g.body > 0 {
			k := min(int64(len(rest)), int64(g.body))
			g.body -= uint32(k)
			rest = rest[k:]
			continue
		}
		k := copy(g.head[g.have:], rest)
		g.have += k
		rest = rest[k:]
		if g.have < headerSize {
			break
		}
		g.have = 0
		if err := g.frame(); err != nil {
			err = fmt.Errorf("the guest broke the protocol: %w", err)
			g.cause.CompareAndSwap(nil, &err)
			return 0, err
		}
	}
	return n, err
}

func (g *guard) frame() error {
	kind := g.head[1]
	length := binary.BigEndian.Uint32(g.head[8:])
	switch {
	case kind != typeData && kind != typeWindow:
		return fmt.Errorf("a frame of type %d", kind)
	case kind == typeData && length > maxDataFrame:
		return fmt.Errorf("a frame of %d bytes", length)
	case kind == typeData:
		g.body = length
	}
	if binary.BigEndian.Uint16(g.head[2:])&flagSYN == 0 {
		return nil
	}
	if s := g.session.Load(); s != nil && s.NumStreams() >= maxStreams {
		return fmt.Errorf("more than %d streams", maxStreams)
	}
	return nil
}
