//go:build unix

package ordinary_test

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// limit is what the tests read at most.
const limit = 1 << 20

// put puts something in the place of a file.
var put = map[string]func(t *testing.T, path string){
	"a pipe":   func(t *testing.T, path string) { require.NoError(t, unix.Mkfifo(path, 0o600)) },
	"a socket": func(t *testing.T, path string) { listen(t, path) },
	"a link to a pipe": func(t *testing.T, path string) {
		require.NoError(t, unix.Mkfifo(path+".pipe", 0o600))
		require.NoError(t, os.Symlink(filepath.Base(path)+".pipe", path))
	},
	"a link to a device without end": func(t *testing.T, path string) { require.NoError(t, os.Symlink("/dev/zero", path)) },
	"a link to the terminal":         func(t *testing.T, path string) { require.NoError(t, os.Symlink("/dev/tty", path)) },
	"a link to nothing":              func(t *testing.T, path string) { require.NoError(t, os.Symlink("nothing", path)) },
	"a link to itself":               func(t *testing.T, path string) { require.NoError(t, os.Symlink(filepath.Base(path), path)) },
	"a directory":                    func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) },
}

func listen(t *testing.T, path string) {
	t.Helper()
	t.Chdir(filepath.Dir(path)) // the name of a socket is short
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Base(path))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
}

// ways are all ways to a file in dir.
func ways(t *testing.T, dir string) map[string]func(name string) error {
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	closed := func(f *os.File, err error) error {
		if err == nil {
			err = f.Close()
		}
		return err
	}
	return map[string]func(name string) error{
		"Open":     func(name string) error { return closed(ordinary.Open(filepath.Join(dir, name))) },
		"OpenIn":   func(name string) error { return closed(ordinary.OpenIn(root, name)) },
		"OpenHere": func(name string) error { return closed(ordinary.OpenHere(root, name)) },
		"Read":     func(name string) error { _, err := ordinary.Read(filepath.Join(dir, name), limit); return err },
		"ReadIn":   func(name string) error { _, err := ordinary.ReadIn(root, name, limit); return err },
	}
}

// soon fails when fn waits for somebody.
func soon(t *testing.T, fn func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- fn() }()
	select {
	case err := <-done:
		return err
	case <-time.After(10 * time.Second):
		require.Fail(t, "it waits for the other end")
		return nil
	}
}

// Whatever stands there, it is an error at once that names the place.
func TestWhatIsNoOrdinaryFile(t *testing.T) {
	for what, make := range put {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			make(t, filepath.Join(dir, "file"))
			for way, open := range ways(t, dir) {
				err := soon(t, func() error { return open("file") })
				require.ErrorContains(t, err, "file", way)
				var at *fs.PathError
				require.ErrorAs(t, err, &at, way)
			}
			if what == "a directory" {
				return
			}
			err := soon(t, func() error { _, err := ordinary.OpenRoot(filepath.Join(dir, "file")); return err })
			require.ErrorContains(t, err, "file")
			err = soon(t, func() error { _, err := ordinary.ReadDir(os.DirFS(dir), "file"); return err })
			require.ErrorContains(t, err, "file")
		})
	}
}

// A link to an ordinary file is followed, but not where the file itself must stand, and never out of a root.
func TestLinksToFiles(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real"), []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(outside, []byte("x"), 0o600))
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "within")))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "out")))
	for way, open := range ways(t, dir) {
		require.NoError(t, open("real"), way)
		if way == "OpenHere" {
			require.ErrorIs(t, open("within"), ordinary.Err)
		} else {
			require.NoError(t, open("within"), way)
		}
		if way == "Open" || way == "Read" {
			require.NoError(t, open("out"), way)
		} else {
			require.Error(t, open("out"), way)
		}
	}
}

// A file of 100 GiB, all of it a hole, is refused by its size: nothing is read and no memory taken.
func TestWhatIsTooLarge(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"fits": limit, "one more": limit + 1, "a hole": 100 << 30} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		if err := os.Truncate(path, size); err != nil {
			require.ErrorIs(t, err, syscall.EFBIG, "a file system that has no such files")
			continue
		}
		data, err := ordinary.Read(path, limit)
		if size <= limit {
			require.NoError(t, err)
			require.Len(t, data, int(size))
			continue
		}
		require.ErrorIs(t, err, ordinary.ErrLarge)
		require.ErrorContains(t, err, path+": larger than 1 MiB")
		require.Nil(t, data)
	}
}

// What says it is empty, as files of /proc do, is read to its end within the limit.
func TestWhatSaysItIsEmpty(t *testing.T) {
	const path = "/proc/self/status"
	info, err := os.Stat(path)
	if err != nil {
		t.Skip("no /proc")
	}
	require.Zero(t, info.Size())
	data, err := ordinary.Read(path, limit)
	require.NoError(t, err)
	require.Greater(t, len(data), 100)
	_, err = ordinary.Read(path, 100)
	require.ErrorIs(t, err, ordinary.ErrLarge)
	_, err = ordinary.Read(path, int64(len(data)+100))
	require.NoError(t, err)
}

func TestUnreadable(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o000))
	for way, open := range ways(t, dir) {
		require.ErrorIs(t, open("file"), fs.ErrPermission, way)
	}
}
