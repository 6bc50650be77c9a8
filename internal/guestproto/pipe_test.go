package guestproto

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// line is a carrier that is cut after so many bytes of either direction, in the middle of whatever is on it.
type line struct {
	net.Conn
	mu   sync.Mutex
	left int
}

func (l *line) spend(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = min(n, l.left)
	l.left -= n
	if l.left == 0 {
		l.Close()
	}
	return n
}

func (l *line) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if kept := l.spend(n); kept < n {
		return kept, io.ErrUnexpectedEOF
	}
	return n, err
}

func (l *line) Write(b []byte) (int, error) {
	n := l.spend(len(b))
	if n < len(b) {
		_, _ = l.Conn.Write(b[:n])
		return n, io.ErrClosedPipe
	}
	return l.Conn.Write(b)
}

// pipes are two ends whose carriers are cut as often as cut says, with how many were used.
func pipes(t *testing.T, cut func(number int) int) (host, guest *Pipe, used func() int) {
	t.Helper()
	guest = NewPipe(false)
	var mu sync.Mutex
	count := 0
	host = DialPipe(func(context.Context) (io.ReadWriteCloser, error) {
		mu.Lock()
		count++
		n := count
		mu.Unlock()
		ours, theirs := net.Pipe()
		go func() { _ = guest.Carry(theirs, 0, nil) }()
		return &line{Conn: ours, left: cut(n)}, nil
	}, soon)
	t.Cleanup(func() { host.Close(); guest.Close() })
	return host, guest, func() int { mu.Lock(); defer mu.Unlock(); return count }
}

// Whatever is cut and when, every byte arrives once and in order, both ways at once.
func TestPipeLosesAndRepeatsNothing(t *testing.T) {
	const size = 3 << 20
	for _, seed := range []uint64{1, 2, 3} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random, cuts := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, 1))
			host, guest, used := pipes(t, func(n int) int {
				if n > 12 {
					return 1 << 40
				}
				return 1 + cuts.IntN(300<<10)
			})
			content := make([]byte, size)
			for i := range content {
				content[i] = byte(random.Uint32())
			}
			var all sync.WaitGroup
			sums := map[*Pipe][32]byte{}
			var mu sync.Mutex
			for _, end := range []*Pipe{host, guest} {
				all.Go(func() { _, _ = end.Write(content) })
				all.Go(func() {
					got := make([]byte, size)
					_, _ = io.ReadFull(end, got)
					mu.Lock()
					sums[end] = sha256.Sum256(got)
					mu.Unlock()
				})
			}
			all.Wait()
			require.Equal(t, sha256.Sum256(content), sums[host])
			require.Equal(t, sha256.Sum256(content), sums[guest])
			require.Greater(t, used(), 5, "it was cut, again and again")
		})
	}
}

// A session does not notice that its carrier is another one.
func TestSessionOverPipe(t *testing.T) {
	host, guest, used := pipes(t, func(n int) int {
		if n > 12 {
			return 1 << 40
		}
		return 20_000
	})
	echo := NewSession(guest, false, func(st *Stream) {
		go func() {
			defer st.Close()
			_, _ = io.Copy(st, st)
		}()
	})
	go func() { _ = echo.Serve() }()
	s := NewSession(host, true, func(*Stream) {})
	go func() { _ = s.Serve() }()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			content := bytes.Repeat([]byte{byte(i), 7}, 40_000)
			st, err := s.Open(nil, false)
			if err != nil {
				t.Error(err)
				return
			}
			defer st.Close()
			go func() { _ = st.WriteEnd(content) }()
			if got, err := io.ReadAll(st); err != nil || !bytes.Equal(content, got) {
				t.Errorf("%d of %d bytes: %v", len(got), len(content), err)
			}
		})
	}
	all.Wait()
	require.Greater(t, used(), 5)
}

func TestPipeHoldsNoMoreThanItsWindow(t *testing.T) {
	p := NewPipe(true)
	done := make(chan int, 1)
	go func() {
		n, _ := p.Write(make([]byte, PipeWindow+1))
		done <- n
	}()
	for full := false; !full; {
		p.mu.Lock()
		full = p.out.len() == PipeWindow
		p.mu.Unlock()
	}
	select {
	case <-done:
		require.Fail(t, "it took more")
	default:
	}
	p.Close()
	require.Equal(t, PipeWindow, <-done)
}

func TestPipeGivesUp(t *testing.T) {
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		dial     Dial
		patience time.Duration
		says     string
	}{
		"the other end is gone": {func(context.Context) (io.ReadWriteCloser, error) { return nil, fmt.Errorf("%w: refused", ErrGone) }, time.Hour, "is gone: refused"},
		"patience ends":         {func(context.Context) (io.ReadWriteCloser, error) { return nil, refused }, time.Millisecond, "no connection for 1ms: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			p := DialPipe(test.dial, test.patience)
			_, err := p.Read(make([]byte, 1))
			require.ErrorContains(t, err, test.says)
			_, err = p.Write([]byte{1})
			require.ErrorContains(t, err, test.says)
		})
	}
}

// A carrier of before, brought late, changes nothing.
func TestLateCarrier(t *testing.T) {
	guest := NewPipe(false)
	defer guest.Close()
	greet := func(number uint64) (net.Conn, error) {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		go func() { _ = guest.Carry(theirs, 0, nil) }()
		_, _ = ours.Write(packet{kind: pipeHello, at: number}.append(nil))
		_, _, err := readPacket(ours, nil)
		return ours, err
	}
	second, err := greet(2)
	require.NoError(t, err)
	_, err = greet(1)
	require.ErrorIs(t, err, io.EOF)
	_, err = second.Write(append(packet{kind: pipeData, size: 2}.append(nil), 'o', 'k'))
	require.NoError(t, err)
	got := make([]byte, 2)
	_, err = io.ReadFull(guest, got)
	require.NoError(t, err)
	require.Equal(t, "ok", string(got))

	_, err = greet(3)
	require.NoError(t, err)
	_, err = second.Read(got)
	require.ErrorIs(t, err, io.EOF, "the new one took its place")
}

// What a guest that breaks the protocol sends ends the pipe with that word.
func TestBrokenPackets(t *testing.T) {
	welcome := packet{kind: pipeWelcome, at: 1}.append(nil)
	for name, wire := range map[string][]byte{
		"data before the welcome":   packet{kind: pipeData}.append(nil),
		"another carrier's welcome": packet{kind: pipeWelcome, at: 2}.append(nil),
		"it has what was not sent":  packet{kind: pipeWelcome, at: 1, got: 1}.append(nil),
		"a gap":                     append(welcome, packet{kind: pipeData, at: 5}.append(nil)...),
		"it has more than was sent": append(welcome, packet{kind: pipeData, got: 9}.append(nil)...),
		"too long":                  append(welcome, packet{kind: pipeData, size: MaxChunk + 1}.append(nil)...),
		"a second welcome":          append(welcome, welcome...),
	} {
		t.Run(name, func(t *testing.T) {
			p := DialPipe(func(context.Context) (io.ReadWriteCloser, error) {
				ours, theirs := net.Pipe()
				go func() {
					_, _, _ = readPacket(theirs, nil)
					_, _ = theirs.Write(wire)
				}()
				return ours, nil
			}, time.Hour)
			defer p.Close()
			_, err := p.Read(make([]byte, 1))
			require.ErrorIs(t, err, ErrBroken)
		})
	}
}

// Bytes that come twice are taken once, whatever part of them is known.
func TestRepeatedBytes(t *testing.T) {
	p := NewPipe(true)
	ours, theirs := net.Pipe()
	go func() { _ = p.Carry(ours, 1, nil) }()
	_, _, err := readPacket(theirs, nil)
	require.NoError(t, err)
	wire := packet{kind: pipeWelcome, at: 1}.append(nil)
	for _, part := range []struct {
		at   uint64
		text string
	}{{0, "abc"}, {0, "ab"}, {1, "bcde"}, {5, "f"}, {0, "abcdef"}, {4, "efgh"}} {
		wire = append(packet{kind: pipeData, at: part.at, size: len(part.text)}.append(wire), part.text...)
	}
	_, err = theirs.Write(wire)
	require.NoError(t, err)
	theirs.Close()
	got := make([]byte, 8)
	_, err = io.ReadFull(p, got)
	require.NoError(t, err)
	require.Equal(t, "abcdefgh", string(got))
	p.Close()
	_, err = p.Read(got)
	require.ErrorIs(t, err, net.ErrClosed)
}

func FuzzPipe(f *testing.F) {
	welcome := packet{kind: pipeWelcome, at: 1}.append(nil)
	f.Add(append(append(welcome, packet{kind: pipeData, size: 2}.append(nil)...), 'h', 'i'))
	f.Add(welcome[:7])
	f.Fuzz(func(t *testing.T, wire []byte) {
		p := NewPipe(true)
		_, _ = p.Write([]byte("hello"))
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		go func() { _, _ = theirs.Write(wire); theirs.Close() }()
		_ = p.Carry(ours, 1, nil)
		require.LessOrEqual(t, p.in.len(), len(wire))
		require.LessOrEqual(t, p.base, uint64(5))
		p.Close()
	})
}
