package guest

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fileTime is the time of every file that joy puts into a world, so that a run is repeatable.
var fileTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// putBuffer is in what pieces a file is written.
const putBuffer = 1 << 20

// put unpacks the host's tar below dir of /workspace. What an earlier command left there is in nobody's way: no
// directory on the path may be a link, and whatever has a file's name already is replaced and never opened.
func (w *world) put(dir string, r io.Reader) error {
	return unpack(filepath.Join(w.dir, "workspace"), dir, r)
}

func unpack(root, dir string, r io.Reader) error {
	tr := tar.NewReader(bufio.NewReaderSize(r, 32<<10))
	buf, err := unix.Mmap(-1, 0, putBuffer, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS) // aligned
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(buf) }()
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the host's files: %w", err)
		}
		name := path.Join(dir, h.Name) //nolint:gosec // it is judged in the next line
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(name) {
			return fmt.Errorf("putting %q: not a regular file below /workspace", h.Name)
		}
		if err := putFile(root, name, os.FileMode(h.Mode).Perm(), h.Size, tr, buf); err != nil {
			return fmt.Errorf("putting %q: %w", h.Name, err)
		}
	}
}

func putFile(root, name string, mode os.FileMode, size int64, r io.Reader, buf []byte) error {
	dir, err := openDir(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	base := path.Base(name)
	fd, err := create(dir, base)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), base)
	defer f.Close()
	if err := fill(f, size, r, buf); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	when := unix.NsecToTimespec(fileTime.UnixNano())
	return unix.UtimesNanoAt(dir, base, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

// fill writes a file. The whole pieces of a large one go to the disk without a copy in the kernel's memory: under
// emulation that copy costs as much as all the rest, and no world pays for the memory.
func fill(f *os.File, size int64, r io.Reader, buf []byte) error {
	direct := size >= int64(len(buf)) && setDirect(f, unix.O_DIRECT) == nil
	if direct {
		// Its blocks at once and in one piece.
		if err := unix.Fallocate(int(f.Fd()), 0, 0, size); errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			return err
		}
	}
	for left := size; left > 0; {
		piece := buf[:min(left, int64(len(buf)))]
		if _, err := io.ReadFull(r, piece); err != nil {
			return err
		}
		if direct && len(piece) < len(buf) { // the rest need not be of whole blocks
			if err := setDirect(f, 0); err != nil {
				return err
			}
		}
		if _, err := f.Write(piece); err != nil {
			return err
		}
		left -= int64(len(piece))
	}
	return nil
}

func setDirect(f *os.File, flag int) error {
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, flag)
	return err
}

// create makes a file in place of whatever has its name.
func create(dir int, base string) (int, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, base, flags, 0o600)
	if !errors.Is(err, unix.EEXIST) {
		return fd, err
	}
	if err := unix.Unlinkat(dir, base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return -1, err
	}
	return unix.Openat(dir, base, flags, 0o600)
}

// openDir opens a directory below root, making it where it is missing and following no link.
func openDir(root, name string) (int, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	dir, err := unix.Open(root, flags, 0)
	if err != nil || name == "." {
		return dir, err
	}
	for part := range strings.SplitSeq(name, "/") {
		if err := unix.Mkdirat(dir, part, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			unix.Close(dir)
			return -1, err
		}
		below, err := unix.Openat(dir, part, flags, 0)
		unix.Close(dir)
		if err != nil {
			return -1, fmt.Errorf("%s is not a directory: %w", part, err)
		}
		dir = below
	}
	return dir, nil
}
