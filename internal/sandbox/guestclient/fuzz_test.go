package guestclient

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// FuzzHost: whatever bytes a guest sends after its ready line, every call returns, and nothing that comes of them
// breaks a promise made to the caller.
func FuzzHost(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00\x00"))
	f.Add([]byte("\x00\x02\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"))
	f.Add(recorded(f, exchange, frames(guestproto.FrameStdout, "out", guestproto.FrameExit, guestproto.Exit{Code: 1})))
	f.Add(recorded(f, exchange, frames(guestproto.FrameError, guestproto.Reply{Error: "no"})))
	f.Fuzz(func(t *testing.T, said []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		c, err := New(ctx, &tape{said: bytes.NewReader(said), closed: make(chan struct{})}, func(world string, conn net.Conn) {
			if world != "step" {
				t.Errorf("a door of %q, which was never opened", world)
			}
			conn.Close()
		})
		if err == nil {
			exchange(ctx, t, c)
			err = c.Close()
		}
		if ctx.Err() != nil {
			t.Fatal("a call did not return", err)
		}
	})
}

// exchange makes one call of each kind and holds what comes back to the contract.
func exchange(ctx context.Context, t testing.TB, c *Client) {
	w, err := c.Open(ctx, sandbox.WorldSpec{ID: "step"})
	if err != nil {
		return
	}
	_ = w.Put(ctx, "in", []sandbox.File{fileOf("x")})
	res, err := w.Run(ctx, sandbox.Command{Argv: []string{"x"}, Stdin: strings.NewReader("in")}, io.Discard, io.Discard)
	if err == nil {
		require.True(t, res.ExitCode >= 0 && res.ExitCode <= 255 && res.Duration >= 0, "%+v", res)
	}
	_, _ = w.Collect(ctx, caps, within(t))
	_ = w.Close(ctx)
}

// within takes files and holds them to the caps.
func within(t testing.TB) func(sandbox.Found, io.Reader) error {
	var total int64
	count := 0
	return func(f sandbox.Found, r io.Reader) error {
		n, err := io.Copy(io.Discard, r)
		if err != nil {
			return err
		}
		count++
		total += n
		require.Equal(t, f.Size, n)
		require.NotContains(t, "/"+f.Path+"/", "/../")
		require.True(t, count <= caps.MaxFiles && total <= int64(caps.MaxTotal) && n <= int64(caps.MaxFile))
		return nil
	}
}

// FuzzRolled: whatever lies where a guest says that its frames are, and however long it says that they are, no file is
// half taken, and only an end is the end.
func FuzzRolled(f *testing.F) {
	f.Add([]byte(onShelf(f, all(one("a", "x"), end)...)), int64(0))
	f.Add([]byte(onShelf(f, all(one("a", "x"), one("b", ""))...)), int64(0))
	f.Add([]byte(onShelf(f, one("a", "x")[:2]...)), int64(0))
	f.Add([]byte(onShelf(f, one("a", "x")...)), int64(-3))
	f.Add([]byte(onShelf(f, told(1, 40)...)), int64(1<<40))
	f.Fuzz(func(t *testing.T, rolled []byte, more int64) {
		var session bytes.Buffer
		beside := []any{guestproto.FrameBeside, guestproto.FileHeader{Beside: 1, Size: int64(len(rolled)) + more}}
		require.NoError(t, writeFrames(guestproto.NewFrames(&session), all(beside, one("y", "y"), one("z", "z"), end)))
		client := &Client{files: shelf{"/x/step/beside/out-1": string(rolled)}, boot: guestproto.Boot{Beside: "/x"}}
		names, take := []string{}, within(t)
		c := collection{world: &world{client: client, id: "step"}, ctx: t.Context(), frames: guestproto.NewFrames(&session), caps: caps}
		c.put = func(f sandbox.Found, r io.Reader) error { names = append(names, f.Path); return take(f, r) }
		err := c.receive()
		c.rewind()
		if err == nil && session.Len() == 0 { // it ended in the session, so all of that was taken
			require.Subset(t, names, []string{"y", "z"})
		}
		require.LessOrEqual(t, len(c.got.Skipped), len(guestproto.SkipReasons)*(guestproto.MaxNamed+1)+len(names))
	})
}

// tape is a channel on which a guest has said all that it will say: an end comes when the host waits for more.
type tape struct {
	said   *bytes.Reader
	once   sync.Once
	closed chan struct{}
}

func (t *tape) Read(b []byte) (int, error) {
	if n, err := t.said.Read(b); err == nil {
		return n, nil
	}
	// The host may be about to send what the last words answer; give it the time to.
	select {
	case <-time.After(time.Millisecond):
	case <-t.closed:
	}
	return 0, io.EOF
}

func (t *tape) Write(b []byte) (int, error) {
	select {
	case <-t.closed:
		return 0, io.ErrClosedPipe
	default:
		return len(b), nil
	}
}

func (t *tape) Close() error {
	t.once.Do(func() { close(t.closed) })
	return nil
}

// recorded is what an honest guest says in an exchange.
func recorded(f *testing.F, talk func(context.Context, testing.TB, *Client), run script) []byte {
	host, guest := net.Pipe()
	kept := &recorder{Conn: guest}
	fk := &fake{conn: guest, scripts: map[guestproto.Op]script{
		guestproto.OpRun: run, guestproto.OpCollect: frames(all(one("a", "x"), []any{guestproto.FrameSkip, skipped("b", "link")}, end)...),
		guestproto.OpPut: func(req guestproto.Request, stream net.Conn) {
			_, _ = io.CopyN(io.Discard, stream, 1024)
			answer(guestproto.Reply{})(req, stream)
		},
	}}
	fk.session = guestproto.NewSession(kept, false, func(st *guestproto.Stream) { go fk.handle(st) })
	go fk.session.Serve()
	c, err := New(f.Context(), host, nil)
	require.NoError(f, err)
	talk(f.Context(), f, c)
	require.NoError(f, c.Close())
	fk.session.Close()
	return kept.said()
}

// recorder keeps what goes through a connection, also after its session has ended: streams are still being closed then.
type recorder struct {
	net.Conn
	mu  sync.Mutex
	all []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	r.all = append(r.all, b...)
	r.mu.Unlock()
	return r.Conn.Write(b)
}

func (r *recorder) said() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.all)
}
