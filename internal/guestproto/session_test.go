package guestproto

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// soon bounds every wait here: far more than anything takes on a busy machine.
const soon = 30 * time.Second

// pair is two ends that speak to each other. The guest's end hands on what the host opens.
func pair(t *testing.T) (host, guest *Session, opened chan *Stream) {
	t.Helper()
	a, b := net.Pipe()
	opened = make(chan *Stream, MaxStreams)
	host = NewSession(a, true, func(st *Stream) { opened <- st })
	guest = NewSession(b, false, func(st *Stream) { opened <- st })
	var served sync.WaitGroup
	for _, s := range []*Session{host, guest} {
		served.Go(func() { s.Serve() })
	}
	t.Cleanup(func() {
		host.Close()
		guest.Close()
		served.Wait()
	})
	return host, guest, opened
}

func begin(t *testing.T, s *Session, first string, last bool) *Stream {
	t.Helper()
	st, err := s.Open([]byte(first), last)
	require.NoError(t, err)
	require.NoError(t, st.SetDeadline(time.Now().Add(soon)))
	return st
}

func accepted(t *testing.T, opened <-chan *Stream) *Stream {
	t.Helper()
	select {
	case st := <-opened:
		require.NoError(t, st.SetDeadline(time.Now().Add(soon)))
		return st
	case <-time.After(soon):
		require.Fail(t, "no stream was opened")
		return nil
	}
}

// gone requires that neither side holds any stream.
func gone(t *testing.T, sessions ...*Session) {
	t.Helper()
	for _, s := range sessions {
		require.Eventually(t, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.streams) == 0 && s.count == [2]int{}
		}, soon, time.Millisecond)
	}
}

func TestStreamIsWhole(t *testing.T) {
	host, guest, opened := pair(t)
	for name, size := range map[string]int{"nothing": 0, "a little": 3, "a chunk": MaxChunk, "a window": HostWindow, "more": 3*HostWindow + 1} {
		t.Run(name, func(t *testing.T) {
			sent := make([]byte, size)
			_, _ = rand.Read(sent)
			go func() {
				peer := <-opened
				_, _ = io.Copy(peer, peer)
				peer.Close()
			}()
			st := begin(t, host, "", false)
			go func() {
				_, _ = io.Copy(st, bytes.NewReader(sent))
				_ = st.CloseWrite()
			}()
			got, err := io.ReadAll(st)
			require.NoError(t, err)
			require.True(t, bytes.Equal(sent, got))
			require.NoError(t, st.Close())
			gone(t, host, guest)
		})
	}
}

func TestOneChunkEachWay(t *testing.T) {
	host, guest, opened := pair(t)
	st := begin(t, host, "question", true)
	peer := accepted(t, opened)
	got, err := io.ReadAll(peer)
	require.NoError(t, err)
	require.Equal(t, "question", string(got))
	require.NoError(t, peer.WriteEnd([]byte("answer")))
	require.ErrorIs(t, peer.WriteEnd(nil), ErrEnded)
	require.NoError(t, peer.Close())
	got, err = io.ReadAll(st)
	require.NoError(t, err)
	require.Equal(t, "answer", string(got))
	require.NoError(t, st.Close())
	gone(t, host, guest)
}

func TestFirstBytesBeyondTheWindow(t *testing.T) {
	host, guest, opened := pair(t)
	first := strings.Repeat("x", 2*HostWindow)
	read := make(chan string, 1)
	go func() {
		peer := <-opened
		got, _ := io.ReadAll(peer)
		read <- string(got)
		peer.Close()
	}()
	st := begin(t, host, first, true)
	require.True(t, first == <-read)
	require.NoError(t, st.Close())
	gone(t, host, guest)
}

// TestStalledStreamHoldsNoOther: a stream that nobody reads takes a window, and then waits; the others go on.
func TestStalledStreamHoldsNoOther(t *testing.T) {
	host, guest, opened := pair(t)
	stalled := begin(t, host, "", false)
	unread := accepted(t, opened)
	_, err := stalled.Write(make([]byte, HostWindow))
	require.NoError(t, err)
	require.NoError(t, stalled.SetWriteDeadline(time.Now().Add(100*time.Millisecond)))
	n, err := stalled.Write([]byte("x"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Zero(t, n)
	for range 100 {
		st := begin(t, host, "", false)
		peer := accepted(t, opened)
		_, err := st.Write([]byte("x"))
		require.NoError(t, err)
		_, err = io.ReadFull(peer, make([]byte, 1))
		require.NoError(t, err)
		require.NoError(t, st.Close())
		require.NoError(t, peer.Close())
	}
	require.NoError(t, stalled.Close())
	got, err := io.ReadAll(unread)
	require.NoError(t, err)
	require.Len(t, got, HostWindow, "what was sent before the end is there")
	require.NoError(t, unread.Close())
	gone(t, host, guest)
}

func TestStop(t *testing.T) {
	host, guest, opened := pair(t)
	st := begin(t, host, "", false)
	peer := accepted(t, opened)
	blocked := make(chan error, 1)
	go func() {
		_, err := st.Write(make([]byte, 2*HostWindow))
		blocked <- err
	}()
	require.NoError(t, peer.WriteEnd([]byte("no")))
	require.NoError(t, peer.Close())
	require.ErrorIs(t, <-blocked, ErrStopped)
	<-st.Stopped()
	got, err := io.ReadAll(st)
	require.NoError(t, err)
	require.Equal(t, "no", string(got), "its last words were said before it stopped")
	require.NoError(t, st.Close())
	require.NoError(t, st.Close())
	_, err = st.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	_, err = st.Write([]byte("x"))
	require.ErrorIs(t, err, net.ErrClosed)
	gone(t, host, guest)
}

func TestDeadlines(t *testing.T) {
	host, _, opened := pair(t)
	st := begin(t, host, "", false)
	peer := accepted(t, opened)
	waits := make(chan error, 1)
	go func() {
		_, err := st.Read(make([]byte, 1))
		waits <- err
	}()
	require.NoError(t, st.SetReadDeadline(time.Unix(1, 0)))
	require.ErrorIs(t, <-waits, os.ErrDeadlineExceeded)
	_, err := st.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, st.SetReadDeadline(time.Time{}))
	_, err = peer.Write([]byte("x"))
	require.NoError(t, err)
	_, err = st.Read(make([]byte, 1))
	require.NoError(t, err)
}

func TestSessionEnds(t *testing.T) {
	for name, end := range map[string]func(host, guest *Session){
		"by itself":       func(host, _ *Session) { host.Close() },
		"by the other":    func(_, guest *Session) { guest.Close() },
		"by its channel":  func(host, _ *Session) { host.conn.Close() },
		"in both at once": func(host, guest *Session) { go host.Close(); guest.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			host, guest, opened := pair(t)
			quiet := begin(t, host, "", false)
			accepted(t, opened)
			st := begin(t, host, "", false)
			peer := accepted(t, opened)
			ended := make(chan error, 3)
			go func() { _, err := quiet.Read(make([]byte, 1)); ended <- err }()
			go func() { _, err := st.Write(make([]byte, 2*HostWindow)); ended <- err }()
			go func() { _, err := peer.Write(make([]byte, 2*HostWindow)); ended <- err }()
			end(host, guest)
			for range 3 {
				require.Error(t, <-ended)
			}
			<-st.Stopped()
			<-peer.Stopped()
			_, err := host.Open(nil, true)
			require.Error(t, err)
			require.Error(t, host.Err())
		})
	}
}

func TestStreamsAreBounded(t *testing.T) {
	host, guest, _ := pair(t)
	for range MaxGuestStreams {
		_, err := guest.Open(nil, true)
		require.NoError(t, err)
	}
	_, err := guest.Open(nil, true)
	require.ErrorIs(t, err, ErrBroken)
	require.NoError(t, host.Err(), "the other side has kept its own bound")
}

// FuzzSession: whatever arrives, a session ends with an error that says why, and has held no more than the windows of
// the streams it let the other side open.
func FuzzSession(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x01\x00\x00\x02\x00\x00\x00\x02hi\x02\x00\x00\x00\x00\x00\x00\x02"))
	f.Add([]byte("\x01\x00\x00\x00\x00\x00\x00\x02\x04\x00\x00\x00\x00\x00\x00\x02\x08\x00\x00\x04\x00\x00\x00\x02\x00\x00\x00\x01"))
	f.Add([]byte("\x00\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, said []byte) {
		var streams []*Stream
		s := NewSession(&script{Reader: bytes.NewReader(said)}, true, func(st *Stream) { streams = append(streams, st) })
		err := s.Serve()
		require.True(t, errors.Is(err, ErrBroken) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
		require.LessOrEqual(t, len(streams), MaxGuestStreams)
		for _, st := range streams {
			require.LessOrEqual(t, len(st.in.buf), GuestWindow)
			require.LessOrEqual(t, st.in.n, len(st.in.buf))
			got, err := io.ReadAll(io.LimitReader(st, GuestWindow+1))
			require.LessOrEqual(t, len(got), GuestWindow)
			if err == nil {
				require.NotZero(t, st.heard&markEnd)
			}
		}
	})
}

// script is a channel on which the other side has said all that it will say.
type script struct{ io.Reader }

func (*script) Write(p []byte) (int, error) { return len(p), nil }
func (*script) Close() error                { return nil }
