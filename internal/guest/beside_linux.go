package guest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// beside is the directory to which the host brings a world's large files and from which it fetches them; "": there is
// none. It is of the world's own project on the disk, and no process of the world sees it.
func (w *world) beside() string {
	if !w.ground.beside {
		return ""
	}
	return filepath.Join(w.dir, guestproto.BesideDir)
}

// brought opens a file that the host brought.
func brought(beside string, n int) (*os.File, fs.FileInfo, error) {
	if beside == "" || n <= 0 {
		return nil, nil, errors.New("the host can bring no files here")
	}
	f, err := os.OpenFile(filepath.Join(beside, guestproto.BesideIn(n)), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("what the host brought: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("what the host brought is no file")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// putBeside unpacks a tar that the host brought, of which nothing is left.
func (w *world) putBeside(dir string, n int) error {
	f, _, err := brought(w.beside(), n)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	return unpack(filepath.Join(w.dir, "workspace"), w.beside(), dir, f)
}

// move makes a file that the host brought one of the world. Like create, it replaces what has its name.
func (u *unpacker) move(name string, mode uint32, records map[string]string) error {
	n, errNumber := strconv.Atoi(records[guestproto.RecordBeside])
	size, errSize := strconv.ParseInt(records[guestproto.RecordSize], 10, 64)
	if err := errors.Join(errNumber, errSize); err != nil {
		return err
	}
	f, info, err := brought(u.beside, n)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() != size {
		return fmt.Errorf("the host brought %d bytes of %d", info.Size(), size)
	}
	if err := u.enter(path.Dir(name)); err != nil {
		return err
	}
	fd := int(f.Fd())
	if err := errors.Join(unix.Fchown(fd, 0, 0), unix.Fchmod(fd, mode), setFileTime(fd)); err != nil {
		return err
	}
	return unix.Renameat(unix.AT_FDCWD, f.Name(), u.fd, path.Base(name))
}

// lay gives an open file of the world a name beside, from which the host fetches it. It is no copy.
func (c *collector) lay(f *os.File) (n int, ok bool) {
	if c.beside == "" {
		return 0, false
	}
	n = c.laid + 1
	to := filepath.Join(c.beside, guestproto.BesideOut(n))
	if unix.Linkat(int(f.Fd()), "", unix.AT_FDCWD, to, unix.AT_EMPTY_PATH) != nil {
		return 0, false // it goes through the session
	}
	c.laid = n
	return n, true
}

// clear takes away what was laid out.
func (c *collector) clear() {
	for n := 1; n <= c.laid; n++ {
		_ = os.Remove(filepath.Join(c.beside, guestproto.BesideOut(n))) // else it goes with the world
	}
}

// collectBeside is collect with a host that fetches what is large, or much, itself. It ends when the host has ended the stream.
func (w *world) collectBeside(c *collector, host io.ReadWriter) error {
	w.laying.Lock()
	defer w.laying.Unlock()
	c.beside = w.beside()
	defer c.clear()
	r := newRoll(c, host)
	if err := errors.Join(c.walk(filepath.Join(w.dir, "workspace")), r.flush()); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, host) // an error is the session's end
	return nil
}

// laid waits until what an earlier collect laid out has lost its other name, which its host has ended before: a command
// of the world sees its own files alone.
func (w *world) laid() {
	w.laying.Lock()
	w.laying.Unlock() //nolint:staticcheck // nothing is done while it is held
}
