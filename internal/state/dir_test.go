package state

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestOpenCreates(t *testing.T) {
	project := t.TempDir()
	d, err := Open(project, "")
	require.NoError(t, err)
	require.Equal(t, filepath.Join(project, ".joy"), d.Path())
	for _, dir := range []string{d.Path(), d.RunsDir(), d.ObjectsDir()} {
		info, err := os.Stat(dir)
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			require.Equal(t, fs.FileMode(0o700), info.Mode().Perm(), dir)
		}
	}

	override := filepath.Join(t.TempDir(), "elsewhere")
	d, err = Open(project, override)
	require.NoError(t, err)
	require.Equal(t, override, d.Path())
}

func TestOpenAtOnce(t *testing.T) {
	project := t.TempDir()
	var wg sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		wg.Go(func() { _, errs[i] = Open(project, "") })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and modes are the Unix kind")
	}
	for name, c := range map[string]struct {
		prepare func(t *testing.T, joy string)
		want    string
	}{
		"a link": {func(t *testing.T, joy string) { require.NoError(t, os.Symlink(t.TempDir(), joy)) }, "is a link"},
		"a link to nothing": {func(t *testing.T, joy string) {
			require.NoError(t, os.Symlink(filepath.Join(t.TempDir(), "none"), joy))
		}, "is a link"},
		"a file": {func(t *testing.T, joy string) { require.NoError(t, os.WriteFile(joy, nil, 0o600)) }, "is not a directory"},
		"writable by the group": {func(t *testing.T, joy string) {
			require.NoError(t, os.Mkdir(joy, 0o700))
			require.NoError(t, os.Chmod(joy, 0o770))
		}, "can be written by others (mode 0770)"},
		"a link for its runs": {func(t *testing.T, joy string) {
			require.NoError(t, os.Mkdir(joy, 0o700))
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(joy, "runs")))
		}, "is a link"},
		"a link for its objects": {func(t *testing.T, joy string) {
			require.NoError(t, os.Mkdir(joy, 0o700))
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(joy, "objects")))
		}, "is a link"},
	} {
		t.Run(name, func(t *testing.T) {
			project := t.TempDir()
			c.prepare(t, filepath.Join(project, Name))
			for _, open := range []func(string, string) (*Dir, error){Open, OpenExisting} {
				_, err := open(project, "")
				require.ErrorContains(t, err, c.want)
				require.Equal(t, fault.Policy, fault.KindOf(err))
			}
		})
	}
}

func TestOpenExisting(t *testing.T) {
	project := t.TempDir()
	_, err := OpenExisting(project, "")
	require.ErrorIs(t, err, ErrNone)
	require.Equal(t, fault.Input, fault.KindOf(err))
	require.NoDirExists(t, filepath.Join(project, Name))

	require.NoError(t, os.Mkdir(filepath.Join(project, Name), 0o700))
	d, err := OpenExisting(project, "")
	require.NoError(t, err)
	require.NoDirExists(t, d.RunsDir())
	runs, err := d.Runs()
	require.NoError(t, err)
	require.Empty(t, runs)
}
