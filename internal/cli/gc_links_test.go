//go:build unix

package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/state"
)

// Whoever put a link in the place of a crashed run's record has nothing written, sealed or removed through it, by joy gc and by
// the clearing before a run; the run stays in the index until the link is gone.
func TestACrashedRunIsNotClearedThroughALink(t *testing.T) {
	for _, known := range []bool{true, false} {
		for what, place := range map[string]func(run state.Run) string{
			"the state directory": func(run state.Run) string { return filepath.Dir(filepath.Dir(run.Dir)) },
			"the runs":            func(run state.Run) string { return filepath.Dir(run.Dir) },
			"the run":             func(run state.Run) string { return run.Dir },
		} {
			p := newPast(t)
			run := p.run(3, false, "body")
			if !known {
				require.NoError(t, p.index.RemoveHead(run.ID))
			}
			require.NoError(t, p.index.Put(state.Live{Run: run.ID, StateDir: p.dir.Path(), Process: state.Process{PID: 1 << 30}, Started: time.Now()}))
			path, elsewhere := place(run), filepath.Join(t.TempDir(), "elsewhere")
			require.NoError(t, os.Rename(path, elsewhere))
			require.NoError(t, os.Symlink(elsewhere, path))
			before := tree(t, elsewhere)
			code, said := p.joy("gc")
			require.Equal(t, 5, code, "%s: %s", what, said)
			require.Contains(t, said, "is a link", what)
			require.Equal(t, before, tree(t, elsewhere), what)
			lives, err := p.index.List()
			require.NoError(t, err)
			require.Len(t, lives, 1, what)

			require.NoError(t, os.Remove(path))
			require.NoError(t, os.Rename(elsewhere, path))
			code, said = p.joy("gc")
			require.Zero(t, code, said)
			lives, err = p.index.List()
			require.NoError(t, err)
			require.Empty(t, lives, what)
		}
	}
}

// tree is every file below dir with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			var body []byte
			body, err = os.ReadFile(path)
			all[path] = string(body)
		}
		return err
	}))
	return all
}

// hole is larger than anything that joy reads to its end.
const hole = 100 << 30

// A file of 100 GiB in the place of one of a run's is refused by its size: nothing is removed that it may need.
func TestNothingIsRemovedThatAHoleMayNeed(t *testing.T) {
	p := newPast(t)
	p.run(40, true, "old")
	kept := p.run(3, true, "new")
	require.NoError(t, os.Truncate(filepath.Join(kept.Dir, ledgerFile), hole))
	code, said := p.joy("gc", "--runs-older", "30d")
	require.Equal(t, 6, code, said)
	require.Contains(t, said, "larger than 4 GiB")
	require.Contains(t, said, filepath.Join(kept.Dir, ledgerFile))
	require.True(t, p.holds("old"))
}

// An input that has no room on the VM's disk is not read.
func TestAnInputIsNoLargerThanTheDisk(t *testing.T) {
	a, _, _ := testApp(t)
	path := filepath.Join(t.TempDir(), "doc")
	require.NoError(t, os.WriteFile(path, []byte("12345"), 0o600))
	take := taking{keep: func(f *os.File) (runner.FileInput, error) {
		_, err := io.Copy(io.Discard, f)
		return runner.FileInput{}, err
	}}
	_, err := a.takeFile("doc", path, 5, take)
	require.NoError(t, err)
	_, err = a.takeFile("doc", path, 4, take)
	require.ErrorContains(t, err, "and the disk of the VM 4 B")
	require.NoError(t, os.Truncate(path, hole))
	_, err = a.takeFile("doc", path, 4<<30, take)
	require.ErrorContains(t, err, path+" has 100 GiB")
}
