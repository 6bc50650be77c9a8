package notekey

import (
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
)

func TestKeysThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	good, err := os.ReadFile(func() string {
		path := filepath.Join(dir, "good")
		_, err := Author.New(path, "alice", rand.Reader)
		require.NoError(t, err)
		return path
	}())
	require.NoError(t, err)
	private, _, _ := strings.Cut(string(good), "\n")
	other, err := Author.New(filepath.Join(dir, "other"), "alice", rand.Reader)
	require.NoError(t, err)
	foreign, public, err := note.GenerateKey(rand.Reader, "joy-workspace/acme")
	require.NoError(t, err)
	for name, text := range map[string]string{
		"empty": "", "rubbish": "rubbish\n", "private half alone": private + "\n",
		"another's public half": private + "\n" + other.Public.String(),
		"key of a workspace":    foreign + "\n" + public, "too large": strings.Repeat("x", maxKey+1),
	} {
		path := filepath.Join(dir, "bad")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := Author.Read(path)
		require.ErrorContains(t, err, "read the author's key", name)
		require.NotContains(t, err.Error(), "PRIVATE", name)
	}
	_, err = Author.Read(filepath.Join(dir, "gone"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Author.Read(dir)
	require.ErrorContains(t, err, "not an ordinary file")
	if runtime.GOOS != "windows" {
		path := filepath.Join(dir, "open")
		require.NoError(t, os.WriteFile(path, good, 0o644))
		_, err = Author.Read(path)
		require.ErrorContains(t, err, "others may read it")
	}
	for _, text := range []string{"", "x", public, "joy-author/a+00000000+AAAA"} {
		_, err := Author.Parse(text)
		require.ErrorContains(t, err, "not the public key of an author")
	}
}

func TestKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "author.key")
	k, err := Author.New(path, "  Ann+ Other\n", rand.Reader)
	require.NoError(t, err)
	require.Equal(t, "joy-author/Ann-Other", k.Public.Name())
	again, err := Author.Read(path)
	require.NoError(t, err)
	require.Equal(t, k.Public.String(), again.Public.String())
	_, err = Author.New(path, "x", rand.Reader)
	require.ErrorIs(t, err, fs.ErrExist)
	if runtime.GOOS != "windows" {
		for name, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
			info, err := os.Stat(name)
			require.NoError(t, err)
			require.Equal(t, want, info.Mode().Perm())
		}
	}
	require.Equal(t, "somebody", keyName(" \n"))
}

// Twenty joys may need the first key at once: each ends with the same whole one.
func TestKeyIsMadeOnceByMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "local.key")
	keys := make([]string, 20)
	var group sync.WaitGroup
	for i := range keys {
		group.Go(func() {
			k, err := Workspace.New(path, "local", rand.Reader)
			if err != nil {
				k, err = Workspace.Read(path)
			}
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = k.Public.String()
		})
	}
	group.Wait()
	for _, k := range keys {
		require.Equal(t, keys[0], k)
	}
	pub, err := Workspace.Parse(keys[0])
	require.NoError(t, err)
	require.Equal(t, "local", pub.Owner())
	_, err = Author.Parse(keys[0])
	require.ErrorContains(t, err, "not the public key of an author")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}
