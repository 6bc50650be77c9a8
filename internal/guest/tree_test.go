//go:build linux

package guest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestRemoveTree(t *testing.T) {
	t.Run("deeper than descriptors", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "world")
		require.NoError(t, os.Mkdir(dir, 0o755))
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		require.NoError(t, err)
		for range 3000 {
			require.NoError(t, unix.Mkdirat(fd, "d", 0o755))
			below, err := unix.Openat(fd, "d", unix.O_RDONLY|unix.O_DIRECTORY, 0)
			require.NoError(t, err)
			file, err := unix.Openat(below, "f", unix.O_CREAT|unix.O_WRONLY, 0o600)
			require.NoError(t, err)
			require.NoError(t, unix.Close(file))
			require.NoError(t, unix.Close(fd))
			fd = below
		}
		require.NoError(t, unix.Close(fd))
		require.NoError(t, removeTree(dir))
		empty(t, filepath.Dir(dir))
	})
	t.Run("wide, with what is no file", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "world")
		require.NoError(t, os.Mkdir(dir, 0o755))
		outside := filepath.Join(t.TempDir(), "kept")
		require.NoError(t, os.WriteFile(outside, nil, 0o600))
		for i := range 3000 {
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, string(rune('a'+i%26))+string(rune('a'+i/26)))))
		}
		require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "dir")))
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0))
		require.NoError(t, removeTree(dir))
		empty(t, filepath.Dir(dir))
		require.FileExists(t, outside)
	})
	t.Run("large files that somebody holds", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "world")
		require.NoError(t, os.Mkdir(dir, 0o755))
		large := bytes.Repeat([]byte("x"), largeFile)
		only, named, outside := filepath.Join(dir, "only"), filepath.Join(dir, "named"), filepath.Join(t.TempDir(), "kept")
		for _, path := range []string{only, outside} {
			require.NoError(t, os.WriteFile(path, large, 0o600))
		}
		require.NoError(t, os.Link(outside, named))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, "link")))
		held, err := os.Open(only)
		require.NoError(t, err)
		defer held.Close()
		require.NoError(t, removeTree(dir))
		info, err := held.Stat()
		require.NoError(t, err)
		require.Zero(t, info.Size(), "its room is still taken")
		kept, err := os.ReadFile(outside)
		require.NoError(t, err)
		require.True(t, bytes.Equal(large, kept), "another's file was emptied")
	})
	require.NoError(t, removeTree(filepath.Join(t.TempDir(), "none")))
	require.ErrorIs(t, removeTree("/no/such/parent/dir"), os.ErrNotExist)
}

func empty(t *testing.T, dir string) {
	t.Helper()
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
