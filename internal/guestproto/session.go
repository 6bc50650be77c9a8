package guestproto

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// What each side may make the other hold. A window is what one stream may have sent and the other side not yet read.
const (
	// MaxChunk bounds the payload of one chunk, the unit that crosses the channel.
	MaxChunk = 64 << 10
	// HostWindow is the window of a stream that the host opened, in each direction.
	HostWindow = 256 << 10
	// FarWindow takes its place over a Pipe, where each credit is a request that may cost a trip to a data centre.
	FarWindow = 2 << 20
	// GuestWindow is that of a stream that the guest opened: a connection to the broker's door.
	GuestWindow = 64 << 10
	// MaxStreams bounds the streams of a session that the host opened and that have not ended on both sides.
	MaxStreams = 1024
	// MaxGuestStreams bounds those that the guest opened. It carries MaxDoors at once; as many again may be ending.
	MaxGuestStreams = 2 * MaxDoors
)

var (
	// ErrBroken is a peer that does not keep the protocol.
	ErrBroken = errors.New("guest protocol broken")
	// ErrEnded is the error of every use of a session that was closed.
	ErrEnded = errors.New("the session has ended")
	// ErrStopped is the error of writing to a stream whose other side reads no more.
	ErrStopped = errors.New("the other side reads no more")
)

// A chunk is a mark (1 byte), a length (3 bytes) and a stream (4 bytes), both big endian, and the payload. Its marks:
const (
	markOpen   = 1 << iota // begins a stream; the payload is its first bytes
	markEnd                // the sender writes no more; the payload is its last bytes
	markStop               // the sender reads no more; no payload
	markCredit             // the payload is a number of bytes (4) by which the window opens again; no other mark
	markAll    = markOpen | markEnd | markStop | markCredit
	chunkHead  = 8
)

// Session carries streams over one channel. The one goroutine of Serve reads and never writes; whoever writes does so
// itself, one chunk in one Write. So what arrives is always taken, into windows that are bounded, and a stream that
// nobody reads holds back its own sender and no other.
type Session struct {
	conn   io.ReadWriteCloser
	host   bool
	accept func(*Stream)
	window int // of a stream that the host opened

	write sync.Mutex
	out   []byte

	mu      sync.Mutex
	streams map[uint32]*Stream
	opened  [2]uint32 // the last stream that the guest and the host opened
	count   [2]int    // theirs that have not ended
	err     error
}

// NewSession takes over conn, on which nothing but chunks flows any more. accept gets each stream that the other side
// opens, on the goroutine that reads, and must not block. Nothing is read before Serve is called.
func NewSession(conn io.ReadWriteCloser, host bool, accept func(*Stream)) *Session {
	s := &Session{conn: conn, host: host, accept: accept, window: HostWindow, streams: map[uint32]*Stream{}}
	if _, far := conn.(*Pipe); far { // at both ends
		s.window = FarWindow
	}
	return s
}

// Serve reads until the session ends and says why: ErrBroken, ErrEnded, or the channel's own error.
func (s *Session) Serve() error {
	r := bufio.NewReaderSize(s.conn, 4<<10) // a guest's port gives a page at a time; a longer payload bypasses it
	for {
		if err := s.next(r); err != nil {
			return s.fail(err)
		}
	}
}

// Close ends the session and closes the channel. Every stream fails with ErrEnded.
func (s *Session) Close() error {
	_ = s.fail(ErrEnded)
	return nil
}

// Err is why the session ended, or nil.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// fail ends the session for the first reason given, and returns that reason.
func (s *Session) fail(err error) error {
	s.mu.Lock()
	if s.err != nil {
		defer s.mu.Unlock()
		return s.err
	}
	s.err = err
	streams := s.streams
	s.streams = map[uint32]*Stream{}
	s.mu.Unlock()
	s.conn.Close()
	for _, st := range streams {
		st.fail(err)
	}
	return err
}

// Open begins a stream with its first bytes. last says that nothing follows them.
func (s *Session) Open(first []byte, last bool) (*Stream, error) {
	s.write.Lock() // streams are opened on the channel in the order of their numbers
	st, err := s.add()
	if err != nil {
		s.write.Unlock()
		return nil, err
	}
	now := min(len(first), MaxChunk)
	_, _, _ = st.reserve(now)
	mark := byte(markOpen)
	if last && now == len(first) {
		mark |= markEnd
	}
	err = s.put(st, mark, first[:now])
	s.write.Unlock()
	switch {
	case err != nil:
	case now < len(first) && last:
		err = st.WriteEnd(first[now:])
	case now < len(first):
		_, err = st.Write(first[now:])
	}
	if err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

func (s *Session) add() (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	side := sideOf(s.host)
	switch {
	case s.err != nil:
		return nil, s.err
	case s.count[side] >= most(s.host):
		return nil, fmt.Errorf("%w: %d streams that the other side does not end", ErrBroken, s.count[side])
	case s.opened[side] >= 1<<32-2:
		return nil, errors.New("guest protocol: every stream number is used")
	}
	return s.register(s.host), nil
}

// register makes the next stream of one side. Streams of the host have odd numbers. The caller holds s.mu.
func (s *Session) register(byHost bool) *Stream {
	side := sideOf(byHost)
	if s.opened[side] == 0 && byHost {
		s.opened[side] = 1
	} else {
		s.opened[side] += 2
	}
	st := newStream(s, s.opened[side], s.windowOf(byHost))
	s.count[side]++
	s.streams[st.id] = st
	return st
}

func sideOf(byHost bool) int {
	if byHost {
		return 1
	}
	return 0
}

func most(byHost bool) int {
	if byHost {
		return MaxStreams
	}
	return MaxGuestStreams
}

func (s *Session) windowOf(byHost bool) int {
	if byHost {
		return s.window
	}
	return GuestWindow
}

// forget drops a stream that has ended on both sides.
func (s *Session) forget(st *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.streams[st.id] == st {
		delete(s.streams, st.id)
		s.count[st.id&1]--
	}
}

// put writes one chunk. The caller holds s.write.
func (s *Session) put(st *Stream, mark byte, payload []byte) error {
	s.out = append(append(s.out[:0], make([]byte, chunkHead)...), payload...)
	return s.putWhole(st, mark, s.out)
}

// putWhole writes one chunk whose payload lies behind room for its head. The caller holds s.write.
func (s *Session) putWhole(st *Stream, mark byte, chunk []byte) error {
	if err := st.speak(mark); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(chunk, uint32(mark)<<24|uint32(len(chunk)-chunkHead))
	binary.BigEndian.PutUint32(chunk[4:], st.id)
	if _, err := s.conn.Write(chunk); err != nil {
		return s.fail(err)
	}
	return nil
}

// next reads one chunk.
func (s *Session) next(r *bufio.Reader) error {
	var head [chunkHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	first, id := binary.BigEndian.Uint32(head[:]), binary.BigEndian.Uint32(head[4:])
	mark, n := byte(first>>24), int(first&0xffffff)
	switch {
	case mark&^markAll != 0, mark&markCredit != 0 && mark != markCredit:
		return fmt.Errorf("%w: a chunk marked %#x", ErrBroken, mark)
	case n > MaxChunk:
		return fmt.Errorf("%w: a chunk of %d bytes", ErrBroken, n)
	case mark == markCredit && n != 4, mark&markStop != 0 && n != 0:
		return fmt.Errorf("%w: a chunk marked %#x with %d bytes", ErrBroken, mark, n)
	}
	st, err := s.find(id, mark)
	switch {
	case err != nil:
		return err
	case mark == markCredit:
		return credit(st, r)
	case st == nil:
		return nil
	}
	if err := st.fill(r, n, mark); err != nil {
		return err
	}
	if mark&markOpen != 0 {
		s.accept(st) // with its first bytes, and its end where that is here too
	}
	return nil
}

// find is the stream of a chunk. One that has ended on both sides may still be told of by a peer that does not know
// yet that it has: a credit or a stop for it is nothing.
func (s *Session) find(id uint32, mark byte) (*Stream, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	st, side := s.streams[id], id&1
	theirs := side != uint32(sideOf(s.host))
	switch {
	case mark&markOpen != 0:
		next := s.opened[side] + 2
		if s.opened[side] == 0 && side == 1 {
			next = 1
		}
		if !theirs || id != next {
			return nil, fmt.Errorf("%w: stream %d is opened out of turn", ErrBroken, id)
		}
		if s.count[side] >= most(!s.host) {
			return nil, fmt.Errorf("%w: more than %d streams", ErrBroken, s.count[side])
		}
		return s.register(!s.host), nil
	case st != nil:
		return st, nil
	case id == 0 || id > s.opened[side] || mark != markStop && mark != markCredit:
		return nil, fmt.Errorf("%w: a chunk for stream %d, which is not open", ErrBroken, id)
	}
	return nil, nil
}

// credit opens the window of st, if there still is one.
func credit(st *Stream, r io.Reader) error {
	var b [4]byte
	if _, err := io.ReadFull(r, b[:]); err != nil || st == nil {
		return err
	}
	return st.credited(binary.BigEndian.Uint32(b[:]))
}
