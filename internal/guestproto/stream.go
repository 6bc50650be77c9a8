package guestproto

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// Stream is one conversation of a session: bytes both ways, each way with an end of its own. It is a net.Conn for one
// reader and one writer at a time; Close, CloseWrite and deadlines may come from anywhere. Close must be called.
type Stream struct {
	session *Session
	id      uint32
	most    int // its window

	readable, writable chan struct{} // hold a token when there may be news
	stopped            chan struct{} // see Stopped
	stop               sync.Once

	mu            sync.Mutex
	in            ring
	eaten         int  // bytes read for which no credit was given yet
	room          int  // bytes that the other side may still send
	window        int  // bytes that we may still send
	said, heard   byte // marks sent and received
	closed        bool
	err           error // the session's
	reads, writes deadline
}

func newStream(s *Session, id uint32, window int) *Stream {
	return &Stream{
		session: s, id: id, most: window, room: window, window: window,
		readable: make(chan struct{}, 1), writable: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Read gives what has arrived, io.EOF after the other side's end, and the session's error when that has ended.
func (st *Stream) Read(p []byte) (int, error) {
	for {
		n, credit, passed, err := st.take(p)
		if credit > 0 {
			st.session.write.Lock()
			_ = st.session.put(st, markCredit, binary.BigEndian.AppendUint32(nil, uint32(credit)))
			st.session.write.Unlock()
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
		select {
		case <-st.readable:
		case <-passed:
		}
	}
}

// take is what can be read without waiting, and the credit that is due for it.
func (st *Stream) take(p []byte) (n, credit int, passed <-chan struct{}, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	passed = st.reads.passed()
	switch {
	case st.closed:
		return 0, 0, passed, net.ErrClosed
	case over(passed):
		return 0, 0, passed, os.ErrDeadlineExceeded
	case st.in.n > 0:
		n = st.in.read(p)
		st.eaten += n
		// A sender that is told of each half window need not wait for its reader, nor be told often.
		if st.eaten >= st.most/2 && st.heard&markEnd == 0 {
			credit, st.eaten = st.eaten, 0
			st.room += credit
		}
	case st.heard&markEnd != 0:
		err = io.EOF
	default:
		err = st.err
	}
	return n, credit, passed, err
}

// Write sends p as the window allows. It fails with ErrStopped when the other side reads no more.
func (st *Stream) Write(p []byte) (int, error) { return st.send(p, 0) }

// WriteEnd sends the last bytes and the end of them in one chunk, if the window allows.
func (st *Stream) WriteEnd(p []byte) error {
	_, err := st.send(p, markEnd)
	return err
}

// Stopped is closed when the other side reads no more or the session has ended: nothing that is written can matter.
func (st *Stream) Stopped() <-chan struct{} { return st.stopped }

// CloseWrite tells the other side that nothing more is written. Reading goes on.
func (st *Stream) CloseWrite() error {
	return st.say(markEnd)
}

// Close ends both ways. What was written still arrives; what arrives is dropped.
func (st *Stream) Close() error {
	st.mu.Lock()
	st.closed = true
	st.in = ring{}
	finished := st.heard&markEnd != 0
	st.reads.stop()
	st.writes.stop()
	st.mu.Unlock()
	tell(st.readable)
	tell(st.writable)
	if finished {
		return st.say(markEnd)
	}
	return st.say(markEnd | markStop)
}

// say sends those of the marks that were not sent before.
func (st *Stream) say(marks byte) error {
	st.session.write.Lock()
	defer st.session.write.Unlock()
	st.mu.Lock()
	more := marks &^ st.said
	st.mu.Unlock()
	if more == 0 {
		return nil
	}
	return st.session.put(st, more, nil)
}

// speak notes the marks of a chunk that is about to be sent. Nothing but credits and new marks may follow an end.
func (st *Stream) speak(mark byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.said&markEnd != 0 && mark&^st.said == 0 {
		return ErrEnded
	}
	st.said |= mark &^ markCredit
	if st.said&st.heard&markEnd != 0 {
		st.session.forget(st)
	}
	return nil
}

func (st *Stream) send(p []byte, last byte) (sent int, err error) {
	return st.each(len(p), last, func(mark byte, from, to int) error {
		return st.session.put(st, mark, p[from:to])
	})
}

// sendWhole sends what lies in b behind room for a chunk's head, without a copy. It overwrites b.
func (st *Stream) sendWhole(b []byte, last byte) error {
	_, err := st.each(len(b)-chunkHead, last, func(mark byte, from, to int) error {
		return st.session.putWhole(st, mark, b[from:chunkHead+to]) // over what was sent before
	})
	return err
}

// each has n bytes put in chunks, as the window allows.
func (st *Stream) each(n int, last byte, put func(mark byte, from, to int) error) (sent int, err error) {
	for sent < n || last != 0 {
		k, passed, err := st.reserve(min(n-sent, MaxChunk))
		if err != nil {
			return sent, err
		}
		if k == 0 && sent < n {
			select {
			case <-st.writable:
			case <-passed:
			}
			continue
		}
		mark := byte(0)
		if sent+k == n {
			mark, last = last, 0
		}
		st.session.write.Lock()
		err = put(mark, sent, sent+k)
		st.session.write.Unlock()
		if err != nil {
			return sent, err
		}
		sent += k
	}
	return sent, nil
}

// reserve takes up to n bytes of the window.
func (st *Stream) reserve(n int) (int, <-chan struct{}, error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	passed := st.writes.passed()
	switch {
	case st.err != nil:
		return 0, passed, st.err
	case st.closed:
		return 0, passed, net.ErrClosed
	case st.heard&markStop != 0:
		return 0, passed, ErrStopped
	case over(passed):
		return 0, passed, os.ErrDeadlineExceeded
	}
	n = min(n, st.window)
	st.window -= n
	return n, passed, nil
}

// fill takes the n bytes of a chunk from the channel, then notes its marks. Only the session's reading goroutine calls
// it, and it waits for nothing but the channel.
func (st *Stream) fill(r io.Reader, n int, mark byte) error {
	st.mu.Lock()
	if st.heard&markEnd != 0 && (n > 0 || mark&markEnd != 0) || n > st.room {
		st.mu.Unlock()
		return fmt.Errorf("%w: %d bytes on stream %d, beyond its end or its window", ErrBroken, n, st.id)
	}
	st.room -= n
	st.mu.Unlock()
	for n > 0 {
		k, err := st.piece(r, n)
		if err != nil {
			return unexpected(err)
		}
		n -= k
	}
	st.mu.Lock()
	st.heard |= mark
	if st.said&st.heard&markEnd != 0 {
		st.session.forget(st)
	}
	st.mu.Unlock()
	tell(st.readable)
	if mark&markStop != 0 {
		st.stop.Do(func() { close(st.stopped) })
		tell(st.writable)
	}
	return nil
}

// piece takes up to n bytes. The space it fills is no reader's before they are counted.
func (st *Stream) piece(r io.Reader, n int) (int, error) {
	st.mu.Lock()
	if st.closed {
		st.mu.Unlock()
		dropped, err := io.CopyN(io.Discard, r, int64(n))
		return int(dropped), err
	}
	space := st.in.space(n, st.most)
	st.mu.Unlock()
	k, err := io.ReadFull(r, space)
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.closed {
		st.in.n += k
	}
	return k, err
}

func (st *Stream) credited(n uint32) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if n == 0 || int64(n) > int64(st.most-st.window) {
		return fmt.Errorf("%w: a credit of %d on stream %d", ErrBroken, n, st.id)
	}
	st.window += int(n)
	tell(st.writable)
	return nil
}

// fail ends the stream with its session.
func (st *Stream) fail(err error) {
	st.mu.Lock()
	st.err = unexpected(err) // an end of the channel is none of the stream
	st.mu.Unlock()
	st.stop.Do(func() { close(st.stopped) })
	tell(st.readable)
	tell(st.writable)
}

// SetDeadline sets both deadlines; see net.Conn.
func (st *Stream) SetDeadline(t time.Time) error {
	_ = st.SetReadDeadline(t)
	return st.SetWriteDeadline(t)
}

// SetReadDeadline is for calls of Read now and later. The zero time is none.
func (st *Stream) SetReadDeadline(t time.Time) error {
	return st.setDeadline(&st.reads, st.readable, t)
}

// SetWriteDeadline is for calls of Write now and later: for how long they wait for the window.
func (st *Stream) SetWriteDeadline(t time.Time) error {
	return st.setDeadline(&st.writes, st.writable, t)
}

func (st *Stream) setDeadline(d *deadline, news chan struct{}, t time.Time) error {
	st.mu.Lock()
	d.set(t)
	st.mu.Unlock()
	tell(news) // whoever waits looks again
	return nil
}

// LocalAddr names the channel.
func (st *Stream) LocalAddr() net.Addr { return addr{} }

// RemoteAddr names the channel.
func (st *Stream) RemoteAddr() net.Addr { return addr{} }

type addr struct{}

func (addr) Network() string { return "joy" }
func (addr) String() string  { return "channel" }
