package guestclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// shelf is a way to files that has some, and fails for the others.
type shelf map[string]string

var errShelf = errors.New("the shelf fell down")

func (s shelf) Send(context.Context, string, io.Reader, int64) error { return errShelf }

func (s shelf) Fetch(_ context.Context, name string, _ int64) io.ReadCloser {
	if body, ok := s[name]; ok {
		return io.NopCloser(strings.NewReader(body))
	}
	return broken{}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errShelf }

func (broken) Close() error { return nil }

// torn is a way to files on which the connection ends behind what there is.
type torn struct{ shelf }

func (s torn) Fetch(_ context.Context, name string, _ int64) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(s.shelf[name]), iotest.ErrReader(fmt.Errorf("asking for it: %w", io.EOF))))
}

// beside is a world whose guest lays out files, and says these frames of them.
func beside(t *testing.T, dir string, files Files, list []any) (*Client, sandbox.World) {
	t.Helper()
	_, c := dial(t, map[guestproto.Op]script{
		guestproto.OpStart:   answer(guestproto.Reply{Boot: &guestproto.Boot{Kernel: "6.1", Beside: dir}}),
		guestproto.OpCollect: frames(list...),
		guestproto.OpPut: func(req guestproto.Request, stream net.Conn) {
			_, _ = io.Copy(io.Discard, stream)
			answer(guestproto.Reply{})(req, stream)
		},
	}, nil)
	c.Beside(files)
	w, err := c.Open(t.Context(), sandbox.WorldSpec{ID: "step"})
	require.NoError(t, err)
	return c, w
}

func laid(n int, size int64) []any {
	return []any{guestproto.FrameFile, guestproto.FileHeader{Path: []byte("f"), Size: size, Beside: n}}
}

func TestCollectBeside(t *testing.T) {
	_, w := beside(t, "/x", shelf{"/x/step/beside/out-7": "abc"}, all(laid(7, 3), []any{guestproto.FrameFileEnd, guestproto.Reply{}}, end))
	var got []byte
	_, err := w.Collect(long(t), caps, func(_ sandbox.Found, r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	require.NoError(t, err)
	require.Equal(t, "abc", string(got))
}

// told says that the next frames lie beside.
func told(n int, size int) []any {
	return []any{guestproto.FrameBeside, guestproto.FileHeader{Beside: n, Size: int64(size)}}
}

// onShelf is frames as the bytes of a file.
func onShelf(t testing.TB, list ...any) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, writeFrames(guestproto.NewFrames(&b), list))
	return b.String()
}

// Frames may begin and end in a file beside, or go on in another one or in the session.
func TestCollectRolled(t *testing.T) {
	f := one("f", "abc")
	first, second := onShelf(t, all(one("a", ""), f[:2])...), onShelf(t, all(f[2:], one("g", "g"))...)
	files := shelf{"/x/step/beside/out-1": first, "/x/step/beside/out-2": second, "/x/step/beside/out-3": onShelf(t, end...)}
	for name, list := range map[string][]any{
		"one after the other": all(told(1, len(first)), told(2, len(second)), told(3, len(files["/x/step/beside/out-3"]))),
		"and the session":     all(told(1, len(first)), f[2:], one("g", "g"), end),
		"none":                all(one("a", ""), f, one("g", "g"), end),
	} {
		t.Run(name, func(t *testing.T) {
			c, w := beside(t, "/x", files, list)
			var got []string
			_, err := w.Collect(long(t), caps, func(f sandbox.Found, r io.Reader) error {
				b, err := io.ReadAll(r)
				got = append(got, f.Path+"="+string(b))
				return err
			})
			require.NoError(t, err)
			require.Equal(t, []string{"a=", "f=abc", "g=g"}, got)
			require.NoError(t, c.Err())
		})
	}
}

// A connection that ends between two frames is no end of the file, and what comes after it is not left out in silence.
func TestCollectRolledIsTorn(t *testing.T) {
	first := onShelf(t, one("a", "")...)
	c, w := beside(t, "/x", torn{shelf{"/x/step/beside/out-1": first}}, all(told(1, len(first)+10), one("g", "g"), end))
	_, err := w.Collect(long(t), caps, take)
	lost(t, c, err, "fetching files: asking for it")
}

func TestCollectBesideFromABadGuest(t *testing.T) {
	for name, tc := range map[string]struct {
		dir    string
		frames []any
		want   string
	}{
		"no directory":          {"", laid(7, 3), "where none can be"},
		"a directory somewhere": {"x", laid(7, 3), "where none can be"},
		"a negative number":     {"/x", laid(-7, 3), "where none can be"},
		"an empty file":         {"/x", laid(7, 0), "where none can be"},
		"past the cap":          {"/x", laid(7, 101), "caps"},
		"bytes twice":           {"/x", all(laid(7, 3), []any{guestproto.FrameData, "abc"}), "larger"},
		"no such file":          {"/x", laid(8, 3), "fetching a file: the shelf fell down"},
		"no end of it":          {"/x", all(laid(7, 3), end), "kind 11"},
		"frames nowhere":        {"", told(7, 3), "where none can be"},
		"frames without number": {"/x", told(0, 3), "where none can be"},
		"no frames":             {"/x", told(7, 0), "where none can be"},
		"frames that are none":  {"/x", all(told(7, 3), end), "unexpected EOF"},
		"frames that are gone":  {"/x", all(told(8, 3), end), "fetching files: the shelf fell down"},
		"frames in frames":      {"/x", all(told(9, 50), end), "kind 12"},
		"an end, and no end":    {"/x", told(10, 5), "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := beside(t, tc.dir, shelf{
				"/x/step/beside/out-7": "abc", "/x/step/beside/out-9": onShelf(t, told(7, 3)...),
				"/x/step/beside/out-10": onShelf(t, guestproto.FrameSkip, skipped("a", "link")),
			}, tc.frames)
			_, err := w.Collect(long(t), caps, take)
			lost(t, c, err, tc.want)
		})
	}
}

// What cannot be sent beside the session goes through it, and a size that is not true is found out there.
func TestPutBesideThatFails(t *testing.T) {
	_, w := beside(t, "/x", shelf{}, nil)
	for name, tc := range map[string]struct {
		size int64
		want string
	}{
		"as announced": {2 * guestproto.Bulk, ""},
		"less":         {2*guestproto.Bulk + 1, "missed writing 1 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			f := sandbox.File{Path: "f", Mode: 0o644, Size: tc.size, Open: func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(strings.Repeat("x", 2*guestproto.Bulk))), nil
			}}
			err := w.Put(long(t), "in", []sandbox.File{f})
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// The announced size of a tar is what is written, whatever the names.
func TestTarSize(t *testing.T) {
	var files []sandbox.File
	for i, name := range []string{"a", strings.Repeat("long/", 60) + "b", "ünï", "x"} {
		size := int64(i * 511)
		files = append(files, sandbox.File{Path: name, Mode: 0o755, Size: size, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Repeat("x", int(size)))), nil
		}})
	}
	at := map[int]int{3: 12}
	var n counter
	require.NoError(t, writeTar(&n, files, at))
	size, err := tarSize(files, at)
	require.NoError(t, err)
	require.EqualValues(t, n, size)
}
