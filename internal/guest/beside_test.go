//go:build linux

package guest

import (
	"archive/tar"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

func reference(number, size string) tar.Header {
	return tar.Header{Name: "f", Mode: 0o755, PAXRecords: map[string]string{guestproto.RecordBeside: number, guestproto.RecordSize: size}}
}

func TestMove(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("gives files to root")
	}
	root, beside := t.TempDir(), t.TempDir()
	bring := filepath.Join(beside, guestproto.BesideIn(1))
	require.NoError(t, os.WriteFile(bring, []byte("new"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "in"), 0o755))
	kept := filepath.Join(root, "kept")
	require.NoError(t, os.WriteFile(kept, []byte("kept"), 0o600))
	require.NoError(t, os.Symlink(kept, filepath.Join(root, "in", "f")))
	require.NoError(t, unpack(root, beside, "in", tarOf(t, reference("1", "3"))))
	info, err := os.Lstat(filepath.Join(root, "in", "f"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode())
	require.True(t, info.ModTime().Equal(fileTime))
	for path, want := range map[string]string{kept: "kept", filepath.Join(root, "in", "f"): "new"} {
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	require.NoFileExists(t, bring)
}

func TestMoveRefuses(t *testing.T) {
	root, beside := t.TempDir(), t.TempDir()
	at := func(n int) string { return filepath.Join(beside, guestproto.BesideIn(n)) }
	require.NoError(t, os.WriteFile(at(1), []byte("abc"), 0o600))
	require.NoError(t, os.Symlink(at(1), at(2)))
	require.NoError(t, os.Mkdir(at(3), 0o755))
	require.NoError(t, unix.Mkfifo(at(4), 0o600))
	for name, tc := range map[string]struct {
		head tar.Header
		want string
	}{
		"none":         {reference("9", "3"), "what the host brought"},
		"a link":       {reference("2", "3"), "what the host brought"},
		"a directory":  {reference("3", "3"), "is no file"},
		"a fifo":       {reference("4", "0"), "is no file"},
		"another size": {reference("1", "4"), "3 bytes of 4"},
		"no number":    {reference("x", "3"), "invalid syntax"},
		"no size":      {reference("1", ""), "invalid syntax"},
		"a path":       {reference("../in-1", "3"), "invalid syntax"},
		"zero":         {reference("0", "3"), "can bring no files"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, unpack(root, beside, "in", tarOf(t, tc.head)), tc.want)
		})
	}
	require.ErrorContains(t, unpack(root, "", "in", tarOf(t, reference("1", "3"))), "can bring no files")
	require.FileExists(t, at(1))
}
