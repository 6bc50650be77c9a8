//go:build linux

package e2b

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

func fileOf(path string, mode uint32, size int) sandbox.File {
	body := bytes.Repeat([]byte(path+"\n"), size/(len(path)+1)+1)[:size]
	return sandbox.File{Path: path, Mode: mode, Size: int64(size), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(body)), nil
	}}
}

// taken is what a world's out has, with the digests of the files.
func taken(t *testing.T, w sandbox.World) (names []string, sums map[string]string) {
	t.Helper()
	sums = map[string]string{}
	caps := policy.Artifacts{MaxFile: 8 << 20, MaxTotal: 64 << 20, MaxFiles: 1000}
	_, err := w.Collect(t.Context(), caps, func(f sandbox.Found, r io.Reader) error {
		h := sha256.New()
		n, err := io.Copy(h, r)
		require.Equal(t, f.Size, n)
		names, sums[f.Path] = append(names, f.Path), fmt.Sprintf("%x", h.Sum(nil))
		return err
	})
	require.NoError(t, err)
	return names, sums
}

// roundTrip puts files of every size and takes them back.
func roundTrip(t *testing.T, sb sandbox.Sandbox, id string) {
	t.Helper()
	w := openWorld(t, sb, id)
	files := []sandbox.File{
		fileOf("b/large", 0o755, 3*guestproto.Bulk+1), fileOf("a", 0o644, 10), fileOf("b/empty", 0o600, 0),
		fileOf("b/just", 0o644, guestproto.Bulk), fileOf("b/less", 0o644, guestproto.Bulk-1),
	}
	want := map[string]string{}
	for _, f := range files {
		r, err := f.Open()
		require.NoError(t, err)
		body, err := io.ReadAll(r)
		require.NoError(t, err)
		want[f.Path] = fmt.Sprintf("%x", sha256.Sum256(body))
	}
	require.NoError(t, w.Put(t.Context(), "out", files))
	code, said := runShell(t, w, `cd out && stat -c '%n %a %u %g %h %Y' a b/*`)
	require.Zero(t, code, said)
	require.Equal(t, "a 644 0 0 1 946684800\nb/empty 600 0 0 1 946684800\nb/just 644 0 0 1 946684800\n"+
		"b/large 755 0 0 1 946684800\nb/less 644 0 0 1 946684800\n", said)
	names, sums := taken(t, w)
	require.Equal(t, []string{"a", "b/empty", "b/just", "b/large", "b/less"}, names)
	require.Equal(t, want, sums)
	_, again := taken(t, w)
	require.Equal(t, want, again)
	code, said = runShell(t, w, `stat -c %h out/b/large out/b/just`)
	require.Zero(t, code)
	require.Equal(t, "1\n1\n", said, "no other name of a file is left")
}

// left is what lies beside the worlds.
func left(t *testing.T, sb sandbox.Sandbox) string {
	t.Helper()
	return inVM(t, sb.(*box), `find /.joy/scratch/worlds/*/beside -type f`)
}

func TestFilesBeside(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	sends := r.server.Fault(e2btest.Fault{On: e2btest.Upload, Do: e2btest.Delay(0)})
	fetches := r.server.Fault(e2btest.Fault{On: e2btest.Download, Do: e2btest.Delay(0)})
	roundTrip(t, sb, "plain")
	require.Equal(t, 3, sends(), "two files, and the tar of the rest")
	require.Equal(t, 6, fetches(), "two files and the rest, twice")
	require.Empty(t, left(t, sb))
}

// Many small files come as few large ones, and through the session where the disk has no room for those.
func TestSmallFilesBeside(t *testing.T) {
	for name, tc := range map[string]struct {
		then    string
		fault   e2btest.Fault
		fetches int
	}{
		"plain":       {"", e2btest.Fault{Do: e2btest.Delay(0)}, 2},
		"cut":         {"", e2btest.Fault{Times: 3, Do: e2btest.Cut()}, 3},
		"a full disk": {"dd if=/dev/zero of=../rest bs=64k 2>/dev/null; ", e2btest.Fault{Do: e2btest.Delay(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, e2btest.Options{})
			sb := r.create(t, r.spec())
			w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "w", Alone: true, Env: map[string]string{"PATH": "/usr/bin:/bin"}})
			require.NoError(t, err)
			code, said := runShell(t, w, `cd out; for i in $(seq 1000); do head -c 12000 /dev/urandom >f$i; done; `+tc.then+`sha256sum f*`)
			require.Zero(t, code, said)
			want := map[string]string{}
			for line := range strings.Lines(said) {
				sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
				require.True(t, ok, line)
				want[name] = sum
			}
			require.Len(t, want, 1000)
			tc.fault.On = e2btest.Download
			hits := r.server.Fault(tc.fault)
			_, sums := taken(t, w)
			require.Equal(t, want, sums)
			require.Equal(t, tc.fetches, hits())
			code, said = runShell(t, w, `true`) // a command waits until nothing lies beside
			require.Zero(t, code, said)
			require.Empty(t, left(t, sb))
		})
	}
}

// Whatever happens to a transfer, the files arrive.
func TestFilesBesideThatFail(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	for name, f := range map[string]e2btest.Fault{
		"a send is refused":    {On: e2btest.Upload, Times: 3, Do: e2btest.Answer(507, "no space")},
		"a send is cut":        {On: e2btest.Upload, Times: 2, Do: e2btest.Cut()},
		"an answer is cut":     {On: e2btest.Upload, Times: 2, Do: e2btest.CutAnswer()},
		"a fetch is refused":   {On: e2btest.Download, Times: 2, Do: e2btest.Answer(502, "bad gateway")},
		"a fetch is cut":       {On: e2btest.Download, Times: 2, Do: e2btest.Cut()},
		"a fetch is too often": {On: e2btest.Download, Times: 1, Do: e2btest.Answer(429, "slow down")},
	} {
		t.Run(name, func(t *testing.T) {
			hits := r.server.Fault(f)
			roundTrip(t, sb, strings.ReplaceAll(name, " ", "-"))
			require.Equal(t, f.Times, hits())
		})
	}
}

// A directory that is a link is followed by nobody, and a link in a file's place is replaced.
func TestFilesBesideAndLinks(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	w := openWorld(t, sb, "links")
	code, said := runShell(t, w, `mkdir -p /tmp/trap && ln -s /tmp/trap out/dir && ln -s /tmp/trap/file out/file`)
	require.Zero(t, code, said)
	large := func(name string) []sandbox.File { return []sandbox.File{fileOf(name, 0o644, guestproto.Bulk)} }
	require.Error(t, w.Put(t.Context(), "out", large("dir/f")))
	require.NoError(t, w.Put(t.Context(), "out", large("file")))
	code, said = runShell(t, w, `ls /tmp/trap; test -f out/file && ! test -L out/file`)
	require.Zero(t, code, said)
	require.Empty(t, said)
	code, said = runShell(t, w, `rm out/file && dd if=/dev/zero of=/tmp/trap/big bs=1M count=1 2>/dev/null && ln -s /tmp/trap/big out/big && ln -s /tmp/trap/big out/file`)
	require.Zero(t, code, said)
	names, _ := taken(t, w)
	require.Empty(t, names)
}

// A put that is given up ends at once, and the world goes on.
func TestFilesBesideGivenUp(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	w := openWorld(t, sb, "w")
	ctx, cancel := context.WithCancel(t.Context())
	f := fileOf("f", 0o644, guestproto.Bulk)
	open := f.Open
	f.Open = func() (io.ReadCloser, error) { cancel(); return open() }
	require.ErrorIs(t, w.Put(ctx, "out", []sandbox.File{f}), context.Canceled)
	code, said := runShell(t, w, `ls out`)
	require.Zero(t, code, said)
	require.Empty(t, said)
}
