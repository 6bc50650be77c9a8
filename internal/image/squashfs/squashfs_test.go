package squashfs

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mksquashfs packs a tar, the way joy does.
func mksquashfs(t testing.TB, packed []byte, options ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("mksquashfs"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "root.squashfs")
	args := append([]string{"-", file, "-tar", "-comp", "zstd", "-noappend", "-quiet", "-no-progress"}, options...)
	cmd := exec.CommandContext(t.Context(), "mksquashfs", args...)
	cmd.Stdin = bytes.NewReader(packed)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return b
}

type entry struct {
	h    tar.Header
	data []byte
}

func pack(t testing.TB, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, e := range entries {
		e.h.Size = int64(len(e.data))
		e.h.ModTime = time.Unix(1_700_000_000, 0)
		require.NoError(t, tw.WriteHeader(&e.h))
		_, err := tw.Write(e.data)
		require.NoError(t, err)
	}
	require.NoError(t, tw.Close())
	return b.Bytes()
}

// describe reads a tar into one line for each name, in its order.
func describe(t *testing.T, packed []byte) (lines []string) {
	t.Helper()
	for tr := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return lines
		}
		require.NoError(t, err)
		data, err := io.ReadAll(tr)
		require.NoError(t, err)
		lines = append(lines, fmt.Sprintf("%c %s -> %q %o %d:%d %d dev %d,%d %x",
			h.Typeflag, h.Name, h.Linkname, h.Mode, h.Uid, h.Gid, h.ModTime.Unix(), h.Devmajor, h.Devminor, data))
	}
}

// tree has every kind of thing that a root file system has, in the order in which WriteTar writes.
func tree() []entry {
	noise := make([]byte, 300_000)
	chacha := rand.NewChaCha8([32]byte{1})
	_, _ = chacha.Read(noise) // never fails
	dir := func(name string) entry { return entry{h: tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}} }
	file := func(name string, mode int64, data []byte) entry {
		return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, data}
	}
	list := []entry{
		dir("a/"),
		file("a/empty", 0o600, nil),
		file("a/hole", 0o644, append(make([]byte, 400_000), 'x')),
		file("a/noise", 0o644, noise),
		file("a/setuid", 0o4755, []byte("short")),
		{h: tar.Header{Typeflag: tar.TypeReg, Name: "a/shadow", Mode: 0o640, Gid: 42}, data: []byte("x")},
		{h: tar.Header{Typeflag: tar.TypeLink, Name: "a/twin", Linkname: "a/noise", Mode: 0o644}},
		dir("dev/"),
		{h: tar.Header{Typeflag: tar.TypeBlock, Name: "dev/disk", Mode: 0o660, Devmajor: 259, Devminor: 70_000}},
		{h: tar.Header{Typeflag: tar.TypeFifo, Name: "dev/fifo", Mode: 0o600}},
		{h: tar.Header{Typeflag: tar.TypeChar, Name: "dev/null", Mode: 0o666, Devmajor: 1, Devminor: 3}},
		{h: tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: strings.Repeat("../long/", 10), Mode: 0o777}},
		dir("many/"),
	}
	for i := range 2000 { // more than one head of 256 names, more than one metadata block
		list = append(list, file(fmt.Sprintf("many/%04d-%s", i, strings.Repeat("n", i%50)), 0o644, fmt.Appendf(nil, "%d", i)))
	}
	return append(list, entry{h: tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}})
}

func TestWriteTar(t *testing.T) {
	want := pack(t, tree())
	for name, options := range map[string][]string{
		"packed":      nil,
		"plain":       {"-noI", "-noD", "-noF", "-noX"},
		"small block": {"-b", "4096"},
	} {
		t.Run(name, func(t *testing.T) {
			b := mksquashfs(t, want, options...)
			f, err := Open(bytes.NewReader(b), int64(len(b)))
			require.NoError(t, err)
			var got bytes.Buffer
			require.NoError(t, f.WriteTar(&got))
			require.Equal(t, describe(t, want), describe(t, got.Bytes()))
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	good := mksquashfs(t, pack(t, tree()[:3]))
	for name, tc := range map[string]struct {
		change func(b []byte) []byte
		want   string
	}{
		"empty":             {func([]byte) []byte { return nil }, "superblock"},
		"text":              {func(b []byte) []byte { return bytes.Repeat([]byte("text"), len(b)/4) }, "not a squashfs"},
		"another version":   {func(b []byte) []byte { b[28] = 5; return b }, "not a squashfs"},
		"another packing":   {func(b []byte) []byte { b[20] = 1; return b }, "not zstd"},
		"block of 0":        {func(b []byte) []byte { clear(b[12:16]); return b }, "block size"},
		"truncated":         {func(b []byte) []byte { return b[:superSize+9] }, "larger than its file"},
		"too many inodes":   {func(b []byte) []byte { b[7] = 0xff; return b }, "larger than its file"},
		"owners elsewhere":  {func(b []byte) []byte { b[48+7] = 0x7f; return b }, "outside the file system"},
		"too many of them":  {func(b []byte) []byte { b[26], b[27] = 0xff, 0xff; return b }, "read the owners"},
		"fragments far off": {func(b []byte) []byte { b[80+6] = 0x7f; return b }, "outside the file system"},
	} {
		t.Run(name, func(t *testing.T) {
			b := tc.change(bytes.Clone(good))
			_, err := Open(bytes.NewReader(b), int64(len(b)))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// FuzzWriteTar changes bytes of a file system: whatever comes of it, reading ends, within bounds and without a panic.
func FuzzWriteTar(f *testing.F) {
	good := mksquashfs(f, pack(f, tree()[:20]))
	f.Add(good)
	f.Add(mksquashfs(f, pack(f, tree()[:20]), "-noI", "-noD", "-noF", "-noX"))
	f.Add(good[:superSize])
	f.Fuzz(func(t *testing.T, b []byte) {
		fs, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		out := &limited{left: 64 << 20}
		_ = fs.WriteTar(out)
		require.GreaterOrEqual(t, out.left, 0)
	})
}

// limited fails a write beyond what is left.
type limited struct{ left int }

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.left {
		return 0, errors.New("enough")
	}
	l.left -= len(p)
	return len(p), nil
}
