//go:build unix

package state

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A project may bring its .git along: a pipe in it holds nobody until somebody writes.
func TestGitFilesThatArePipes(t *testing.T) {
	for name, c := range map[string]struct {
		pipe string
		want string
	}{
		"the index":              {".git/index", ".git/index: not an ordinary file"},
		"what leads to an index": {".git", ""},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			pipe := filepath.Join(project, filepath.FromSlash(c.pipe))
			require.NoError(t, os.MkdirAll(filepath.Dir(pipe), 0o700))
			require.NoError(t, unix.Mkfifo(pipe, 0o600))
			opened := make(chan error, 1)
			go func() {
				_, err := Open(project, "")
				opened <- err
			}()
			select {
			case err := <-opened:
				if c.want == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.want)
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for the other end of the pipe")
			}
		})
	}
}
