package guestclient

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// The marks of a chunk, as docs/guest-protocol.md has them: what is tested must not come from what is tested.
const open, end2, stop, credit = 1, 2, 4, 8

func chunk(mark byte, stream uint32, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(mark)<<24|uint32(len(payload)))
	return string(binary.BigEndian.AppendUint32(b, stream)) + payload
}

func message(t *testing.T, v any) string {
	t.Helper()
	b, err := guestproto.EncodeMessage(v)
	require.NoError(t, err)
	return string(b)
}

// TestGuestThatBreaksTheSession: the next stream of the guest is 2; the host's 1 and 3 were the start and the world,
// its 5 is a command whose output nobody has asked for yet.
func TestGuestThatBreaksTheSession(t *testing.T) {
	full := string(make([]byte, guestproto.MaxChunk))
	for name, tc := range map[string]struct {
		said []string
		want string
	}{
		"a mark of its own":             {[]string{chunk(16, 5, "")}, "marked"},
		"a giant chunk":                 {[]string{"\x00\xff\xff\xff\x00\x00\x00\x05"}, "a chunk of"},
		"a stop with words":             {[]string{chunk(stop, 5, "x")}, "marked"},
		"a credit that ends":            {[]string{chunk(credit|end2, 5, "abcd")}, "marked"},
		"a short credit":                {[]string{chunk(credit, 5, "abc")}, "marked"},
		"a credit of nothing":           {[]string{chunk(credit, 5, "\x00\x00\x00\x00")}, "credit of 0"},
		"a credit never asked for":      {[]string{chunk(credit, 5, "\x00\x10\x00\x00")}, "credit of"},
		"a credit of four thousand MB":  {[]string{chunk(credit, 5, "\xff\xff\xff\xff")}, "credit of"},
		"a stream of number 0":          {[]string{chunk(0, 0, "x")}, "not open"},
		"a stream that is not open":     {[]string{chunk(0, 7, "x")}, "not open"},
		"a stop of one never opened":    {[]string{chunk(stop, 7, "")}, "not open"},
		"a stream that has ended":       {[]string{chunk(0, 1, "x")}, "not open"},
		"words after the end":           {[]string{chunk(end2, 5, ""), chunk(0, 5, "x")}, "not open"},
		"two ends":                      {[]string{chunk(end2, 5, ""), chunk(end2, 5, "")}, "not open"},
		"more than the window":          {[]string{chunk(0, 5, full), chunk(0, 5, full), chunk(0, 5, full), chunk(0, 5, full), chunk(0, 5, "x")}, "its window"},
		"more than a door's window":     {[]string{chunk(open, 2, full), chunk(0, 2, "x")}, "its window"},
		"a stream of the host's opened": {[]string{chunk(open, 7, "")}, "out of turn"},
		"a stream opened twice":         {[]string{chunk(open, 2, ""), chunk(open, 2, "")}, "out of turn"},
		"a number left out":             {[]string{chunk(open, 4, "")}, "out of turn"},
	} {
		t.Run(name, func(t *testing.T) {
			f, c, _ := dialStalled(t)
			f.deaf.Store(true)
			go func() {
				for _, b := range tc.said {
					_, _ = io.WriteString(f.conn, b)
				}
			}()
			<-c.Lost()
			_, err := c.Ping(long(t))
			lost(t, c, err, "broke the protocol")
			require.ErrorContains(t, c.Err(), tc.want)
		})
	}
}

// dialStalled gives a session with a command, on stream 5, whose caller has stopped taking its output.
func dialStalled(t *testing.T) (*fake, *Client, sandbox.World) {
	t.Helper()
	release := make(chan struct{})
	f, c, w := dialWorld(t, map[guestproto.Op]script{guestproto.OpRun: func(_ guestproto.Request, stream net.Conn) {
		_ = guestproto.NewFrames(stream).Write(guestproto.FrameStdout, []byte("x"))
		<-release
	}})
	stalled := make(chan struct{})
	go func() {
		_, _ = w.Run(context.Background(), sleep, writer(func(b []byte) (int, error) {
			close(stalled)
			<-release
			return len(b), nil
		}), io.Discard)
	}()
	<-stalled
	for range 2 { // the start and the world: streams 1 and 3 have ended
		<-f.handled
	}
	t.Cleanup(func() { close(release) })
	return f, c, w
}

// TestStalledReaderHoldsNobodyElse: a command whose output is not taken, to the brim of its window, and the other
// worlds go on.
func TestStalledReaderHoldsNobodyElse(t *testing.T) {
	f, c, _ := dialStalled(t)
	rest := guestproto.HostWindow - len("\x03\x00\x00\x00\x01x")
	for ; rest > 0; rest -= min(rest, guestproto.MaxChunk) {
		_, err := io.WriteString(f.conn, chunk(0, 5, string(make([]byte, min(rest, guestproto.MaxChunk)))))
		require.NoError(t, err)
	}
	for range 100 {
		_, err := c.Ping(long(t))
		require.NoError(t, err)
	}
	other, err := c.Open(long(t), sandbox.WorldSpec{ID: "other"})
	require.NoError(t, err)
	large := fileOf(string(make([]byte, 2<<20)))
	f.scripts[guestproto.OpPut] = func(req guestproto.Request, stream net.Conn) {
		_, _ = io.Copy(io.Discard, stream)
		answer(guestproto.Reply{})(req, stream)
	}
	require.NoError(t, other.Put(long(t), "in", []sandbox.File{large}))
	require.NoError(t, c.Err())
}

// TestGuestThatFloods: a guest that sends without end until it is cut off, and how much the host then holds of it.
func TestGuestThatFloods(t *testing.T) {
	door := message(t, guestproto.Request{Op: guestproto.OpDoor, World: "step"})
	full := string(make([]byte, guestproto.GuestWindow-len(door)))
	for name, tc := range map[string]struct {
		next func(i uint32) string
		mind func(*fake) // how it takes what the host says; nil: as an honest one, and then it may go on, and the host stays small
	}{
		"doors":               {func(i uint32) string { return chunk(open, 2+2*i, door) }, deaf},
		"doors full of words": {func(i uint32) string { return chunk(open, 2+2*i, door+full) }, deaf},
		// A host that can end them as well is done with them, and then it is a matter of who is faster.
		"doors that end":            {func(i uint32) string { return chunk(open|end2, 2+2*i, door) }, stuck},
		"streams that say nothing":  {func(i uint32) string { return chunk(open, 2+2*i, "") }, deaf},
		"stops of what has ended":   {func(uint32) string { return chunk(stop, 1, "") }, nil},
		"credits of what has ended": {func(uint32) string { return chunk(credit, 1, "\x00\x00\x00\x01") }, nil},
		"nothings":                  {func(uint32) string { return chunk(0, 5, "") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f, c, _ := dialStalled(t)
			c.door = func(_ string, conn net.Conn) { <-c.ended; conn.Close() }
			if tc.mind != nil {
				tc.mind(f)
			}
			before := heap()
			for i := range uint32(20_000) {
				if _, err := io.WriteString(f.conn, tc.next(i)); err != nil {
					break
				}
			}
			held := heap() - before
			require.Less(t, held, int64(guestproto.MaxGuestStreams*2*guestproto.GuestWindow))
			if tc.mind == nil {
				_, err := c.Ping(long(t))
				require.NoError(t, err)
				return
			}
			select {
			case <-c.Lost():
			case <-time.After(soon):
				require.Fail(t, "it may go on for ever")
			}
			require.ErrorContains(t, c.Err(), "streams")
			_, err := c.Ping(long(t))
			require.ErrorIs(t, err, sandbox.ErrLost)
		})
	}
}

func deaf(f *fake)  { f.deaf.Store(true) }
func stuck(f *fake) { f.stuck.Store(true) }

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
