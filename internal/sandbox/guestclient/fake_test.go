package guestclient

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// soon bounds every wait here: far more than anything takes on a busy machine.
const soon = 30 * time.Second

// script is what a fake guest does on the streams of one operation, after the request.
type script func(req guestproto.Request, stream net.Conn)

// answer replies and closes.
func answer(reply guestproto.Reply) script {
	return func(_ guestproto.Request, stream net.Conn) {
		if b, err := guestproto.EncodeMessage(reply); err == nil {
			_, _ = stream.Write(b)
		}
	}
}

// frames sends frames and closes: kind and body in turn.
func frames(list ...any) script {
	return func(_ guestproto.Request, stream net.Conn) { _ = writeFrames(guestproto.NewFrames(stream), list) }
}

func writeFrames(f *guestproto.Frames, list []any) error {
	for i := 0; i < len(list); i += 2 {
		var err error
		kind, _ := list[i].(guestproto.Kind)
		if raw, ok := list[i+1].(string); ok {
			err = f.Write(kind, []byte(raw))
		} else {
			err = f.WriteJSON(kind, list[i+1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// raw sends bytes and closes.
func raw(b string) script {
	return func(_ guestproto.Request, stream net.Conn) { _, _ = io.WriteString(stream, b) }
}

// silent never answers.
func silent(_ guestproto.Request, stream net.Conn) {
	_, _ = io.Copy(io.Discard, stream)
	if st, ok := stream.(*guestproto.Stream); ok {
		<-st.Stopped()
	}
}

// fake is a guest under a test's control: it answers like an honest one where the test has no script.
type fake struct {
	session *guestproto.Session
	conn    net.Conn
	scripts map[guestproto.Op]script
	killed  atomic.Int64
	handled chan struct{} // a token for each request that it has done with, its stream closed
	deaf    atomic.Bool   // it takes what the host says and does not understand it
	stuck   atomic.Bool   // it takes nothing of what the host says
	over    chan struct{} // closed with its end of the channel
	once    sync.Once
}

// ears are the fake's end of the channel.
type ears struct {
	net.Conn
	*fake
}

func (e ears) Read(p []byte) (int, error) {
	for {
		n, err := e.Conn.Read(p)
		if e.stuck.Load() {
			<-e.over
			return 0, io.EOF
		}
		if err != nil || !e.deaf.Load() {
			return n, err
		}
	}
}

func (e ears) Close() error {
	e.once.Do(func() { close(e.over) })
	return e.Conn.Close()
}

func newFake(t *testing.T, scripts map[guestproto.Op]script) (*fake, net.Conn) {
	t.Helper()
	settles(t)
	host, guest := net.Pipe()
	f := &fake{conn: guest, scripts: scripts, handled: make(chan struct{}, 100), over: make(chan struct{})}
	f.session = guestproto.NewSession(ears{guest, f}, false, func(st *guestproto.Stream) { go f.handle(st) })
	go f.session.Serve()
	t.Cleanup(func() { f.session.Close() })
	return f, host
}

func (f *fake) handle(stream net.Conn) {
	defer func() {
		stream.Close()
		select {
		case f.handled <- struct{}{}:
		default: // nobody looks at so many
		}
	}()
	var req guestproto.Request
	if guestproto.ReadMessage(stream, &req) != nil {
		return
	}
	if req.Op == guestproto.OpKill {
		f.killed.Add(1)
	}
	switch do := f.scripts[req.Op]; {
	case do != nil:
		do(req, stream)
	case req.Op == guestproto.OpStart:
		answer(guestproto.Reply{Boot: &guestproto.Boot{Kernel: "6.1"}})(req, stream)
	default:
		answer(guestproto.Reply{})(req, stream)
	}
}

// dial gives a session with a fake guest.
func dial(t *testing.T, scripts map[guestproto.Op]script, door func(string, net.Conn)) (*fake, *Client) {
	t.Helper()
	f, host := newFake(t, scripts)
	c, err := New(t.Context(), host, door)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return f, c
}

func dialWorld(t *testing.T, scripts map[guestproto.Op]script) (*fake, *Client, sandbox.World) {
	t.Helper()
	f, c := dial(t, scripts, nil)
	w, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.NoError(t, err)
	return f, c, w
}

// settles checks at the end that the test has left no goroutine.
func settles(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for limit := time.Now().Add(soon); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				stacks := make([]byte, 64<<10)
				require.Fail(t, "goroutines leak", "%s", stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
}

// lost requires that the session has ended, and says why.
func lost(t *testing.T, c *Client, err error, why string) {
	t.Helper()
	require.ErrorIs(t, err, sandbox.ErrLost)
	require.ErrorContains(t, err, why)
	select {
	case <-c.Lost():
	case <-time.After(soon):
		require.Fail(t, "not lost")
	}
	require.ErrorContains(t, c.Err(), why)
	_, err = c.Open(t.Context(), sandbox.WorldSpec{ID: "late"})
	require.ErrorIs(t, err, sandbox.ErrLost)
}

// short is for what never comes; that it may end before the call has begun must not matter.
func short(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

func long(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

var (
	sleep = sandbox.Command{Argv: []string{"sleep", "1000"}}
	caps  = policy.Artifacts{MaxFile: 100, MaxTotal: 250, MaxFiles: 3}
)
