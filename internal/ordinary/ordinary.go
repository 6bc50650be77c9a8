// Package ordinary opens what must be an ordinary file, where a stranger may have put anything in its place.
//
// The one rule: opening ends at once. A pipe that nobody writes to holds joy for no time, no device is touched, and what is
// read whole is refused by its size before memory is taken for it.
package ordinary

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Err is in the tree of the error when there is something and it is no ordinary file; ErrLarge when there is more than was asked
// for. Each stands in an *fs.PathError, which names the place.
var (
	Err      = errors.New("not an ordinary file")
	ErrLarge = errors.New("too large")

	errNoDir = errors.New("not a directory")
)

// flags keep an open from waiting for the other end of a pipe that was put there since it was looked at. Elsewhere than on Unix
// they mean nothing, and neither do pipes.
const flags = os.O_RDONLY | syscall.O_NONBLOCK

// Open opens the file that path leads to, over links as the system follows them. The caller closes it.
func Open(path string) (*os.File, error) {
	return open(path, func() (fs.FileInfo, error) { return os.Stat(path) },
		func() (*os.File, error) { return os.OpenFile(path, flags, 0) }) // #nosec G304 -- looked at before and after
}

// OpenIn opens a file of root, which follows no link that leads out of it. The caller closes it.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, func() (fs.FileInfo, error) { return root.Stat(name) },
		func() (*os.File, error) { return root.OpenFile(name, flags, 0) })
}

// OpenHere opens a file of root and follows no link at all at its end: what stands there itself is the file. The caller closes it.
func OpenHere(root *os.Root, name string) (*os.File, error) {
	look := func() (fs.FileInfo, error) { return root.Lstat(name) }
	named, err := look()
	if err != nil {
		return nil, err
	}
	f, err := open(name, look, func() (*os.File, error) { return root.OpenFile(name, flags, 0) })
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(named, opened) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: errors.New("it was exchanged meanwhile")}, f.Close())
	}
	return f, nil
}

// open looks, opens and looks again: some devices act on being opened, and what is opened may be another thing.
func open(name string, look func() (fs.FileInfo, error), open func() (*os.File, error)) (*os.File, error) {
	info, err := look()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: Err}
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: Err}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read is Open for a file that is read whole. One of more than limit bytes is ErrLarge and is not read.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	return readAll(f, path, limit)
}

// ReadIn is OpenIn for a file that is read whole. One of more than limit bytes is ErrLarge and is not read.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenIn(root, name)
	if err != nil {
		return nil, err
	}
	return readAll(f, name, limit)
}

// readAll takes room for as much as the file says it has, and believes nobody: one that grows is too large as well.
func readAll(f *os.File, name string, limit int64) ([]byte, error) {
	defer f.Close()
	large := &fs.PathError{Op: "read", Path: name, Err: tooLarge(limit)}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, large
	}
	data := make([]byte, info.Size()+1)
	n, err := io.ReadFull(f, data)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return data[:n], nil
	case err != nil:
		return nil, err
	}
	rest, err := io.ReadAll(io.LimitReader(f, limit-info.Size())) // it grew
	if data = append(data, rest...); err == nil && int64(len(data)) > limit {
		err = large
	}
	return data, err
}

// tooLarge is the limit that a file is beyond.
type tooLarge int64

// Is makes it an ErrLarge.
func (tooLarge) Is(target error) bool { return target == ErrLarge }

func (n tooLarge) Error() string {
	for _, unit := range []struct {
		size tooLarge
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("larger than %d %s", n/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("larger than %d bytes", n)
}

// OpenRoot is os.OpenRoot for what may be no directory, which os.OpenRoot opens all the same. The caller closes it.
func OpenRoot(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: errNoDir}
	}
	return os.OpenRoot(dir)
}

// ReadDir lists a directory of fsys. What is something else is not opened: a pipe would hold joy.
func ReadDir(fsys fs.FS, dir string) ([]fs.DirEntry, error) {
	info, err := fs.Stat(fsys, dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: dir, Err: errNoDir}
	}
	return fs.ReadDir(fsys, dir)
}
