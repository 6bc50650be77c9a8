//go:build unix

package artifact_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/artifact"
)

func TestEverythingIsPrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	s, dir := open(t)
	_, err := s.PutBytes([]byte("hello"))
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		}
		require.Equal(t, want, info.Mode(), p)
		return nil
	}))
}

func TestLinksAreNotFollowed(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("hello"), 0o600))

	t.Run("the store", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "objects")
		require.NoError(t, os.Symlink(outside, link))
		_, err := artifact.Open(link)
		require.ErrorContains(t, err, "links are not followed")
		_, err = artifact.OpenExisting(link)
		require.ErrorContains(t, err, "links are not followed")
	})
	for _, part := range []string{"tmp", "sha256"} {
		t.Run(part, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.Symlink(outside, filepath.Join(dir, part)))
			_, err := artifact.Open(dir)
			require.ErrorContains(t, err, part+" is not a directory")
		})
	}
	t.Run("a shard", func(t *testing.T) {
		s, dir := open(t)
		require.NoError(t, os.Symlink(outside, filepath.Dir(file(dir, nameOf("hello")))))
		_, err := s.PutBytes([]byte("hello"))
		require.Error(t, err)
		_, err = s.Open(nameOf("hello"))
		require.Error(t, err)
	})
	t.Run("an object", func(t *testing.T) {
		s, dir := open(t)
		obj, err := s.PutBytes([]byte("hello"))
		require.NoError(t, err)
		for name, put := range map[string]func(string) error{
			"link": func(p string) error { return os.Symlink(secret, p) },
			"fifo": func(p string) error { return unix.Mkfifo(p, 0o600) },
			"dir":  func(p string) error { return os.Mkdir(p, 0o700) },
		} {
			require.NoError(t, os.RemoveAll(file(dir, obj.Digest)))
			require.NoError(t, put(file(dir, obj.Digest)))
			_, err = s.Open(obj.Digest)
			require.ErrorContains(t, err, "not a regular file", name)
			sizes, err := s.List()
			require.NoError(t, err)
			require.Empty(t, sizes, name)
		}
	})
	b, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "hello", string(b))
	require.Len(t, files(t, outside), 1)
}
