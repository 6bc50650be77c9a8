//go:build linux

package guest

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func tarOf(t *testing.T, heads ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range heads {
		h.Format = tar.FormatPAX
		require.NoError(t, w.WriteHeader(&h))
		_, err := w.Write(bytes.Repeat([]byte("x"), int(h.Size)))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return &b
}

func TestUnpack(t *testing.T) {
	root := t.TempDir()
	kept := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "in"), 0o755))
	require.NoError(t, os.Symlink(kept, filepath.Join(root, "in", "link")))
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "in", "fifo"), 0o600))
	require.NoError(t, unpack(root, "", "in", tarOf(t,
		tar.Header{Name: "link", Mode: 0o644, Size: 1}, tar.Header{Name: "fifo", Mode: 0o600, Size: 2},
		tar.Header{Name: "a/b/run", Mode: 0o7755, Size: 3},
	)))
	for name, want := range map[string]struct {
		mode os.FileMode
		size int64
	}{"link": {0o644, 1}, "fifo": {0o600, 2}, "a/b/run": {0o755, 3}} {
		info, err := os.Lstat(filepath.Join(root, "in", name))
		require.NoError(t, err)
		require.Equal(t, want.mode, info.Mode(), name)
		require.Equal(t, want.size, info.Size(), name)
		require.True(t, info.ModTime().Equal(fileTime), name)
	}
	b, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Equal(t, "kept", string(b))
}

func TestUnpackRefuses(t *testing.T) {
	outside := t.TempDir()
	for name, tc := range map[string]struct {
		dir  string
		head tar.Header
		want string
	}{
		"a path up":                {"in", tar.Header{Name: "../../x"}, "regular file below"},
		"an absolute directory":    {"/etc", tar.Header{Name: "x"}, "regular file below"},
		"a link":                   {"in", tar.Header{Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, "regular file below"},
		"a device":                 {"in", tar.Header{Name: "x", Typeflag: tar.TypeChar}, "regular file below"},
		"a directory":              {"in", tar.Header{Name: "x/", Typeflag: tar.TypeDir}, "regular file below"},
		"through a link":           {"d", tar.Header{Name: "x"}, "not a directory"},
		"through a link below":     {"in", tar.Header{Name: "d/x"}, "not a directory"},
		"through a file":           {"f", tar.Header{Name: "x"}, "not a directory"},
		"in place of a directory":  {"", tar.Header{Name: "in"}, "is a directory"},
		"a name that is too long":  {"in", tar.Header{Name: string(bytes.Repeat([]byte("x"), 300))}, "too long"},
		"the workspace's own name": {"", tar.Header{Name: "."}, "putting"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(root, "in"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(root, "f"), nil, 0o600))
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "d")))
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "in", "d")))
			require.ErrorContains(t, unpack(root, "", tc.dir, tarOf(t, tc.head)), tc.want)
			empty(t, outside)
		})
	}
	require.ErrorContains(t, unpack(t.TempDir(), "", "in", bytes.NewReader(make([]byte, 100))), "reading the host's files")
	whole := tarOf(t, tar.Header{Name: "x", Size: 5000}).Bytes()
	require.ErrorContains(t, unpack(t.TempDir(), "", "in", bytes.NewReader(whole[:2000])), "unexpected EOF")
}

// TestUnpackLarge: files around the pieces that they are written in arrive whole, and half a file is an error.
func TestUnpackLarge(t *testing.T) {
	for _, size := range []int{0, 1, 4095, putBuffer - 1, putBuffer, putBuffer + 1, 2*putBuffer + 4096, 3*putBuffer + 513} {
		root := t.TempDir()
		content := make([]byte, size)
		_, err := rand.Read(content)
		require.NoError(t, err)
		var sent bytes.Buffer
		tw := tar.NewWriter(&sent)
		require.NoError(t, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "f", Mode: 0o644, Size: int64(size)}))
		_, err = tw.Write(content)
		require.NoError(t, err)
		require.NoError(t, tw.Close())
		half := bytes.NewReader(sent.Bytes()[:512+size/2])

		require.NoError(t, unpack(root, "", "in", &sent))
		got, err := os.ReadFile(filepath.Join(root, "in/f"))
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got), "%d bytes", size)
		if size > 0 {
			require.Error(t, unpack(root, "", "in", half))
		}
	}
}
