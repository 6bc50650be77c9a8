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
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// fileTime is the time of every file that joy puts into a world, so that a run is repeatable.
var fileTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// putBuffer is in what pieces a file is written.
const putBuffer = 1 << 20

// put unpacks the host's tar below dir of /workspace. What an earlier command left there is in nobody's way: no
// directory on the path may be a link, and whatever has a file's name already is replaced and never opened.
func (w *world) put(dir string, r io.Reader) error {
	return unpack(filepath.Join(w.dir, "workspace"), w.beside(), dir, r)
}

func unpack(root, beside, dir string, r io.Reader) error {
	tr := tar.NewReader(bufio.NewReaderSize(r, 32<<10))
	buf, err := unix.Mmap(-1, 0, putBuffer, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS) // aligned
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(buf) }()
	u := &unpacker{root: root, beside: beside, buf: buf, fd: -1}
	defer u.leave()
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
		mode := uint32(os.FileMode(h.Mode).Perm())
		if h.PAXRecords[guestproto.RecordBeside] != "" {
			err = u.move(name, mode, h.PAXRecords)
		} else {
			err = u.file(name, mode, h.Size, tr)
		}
		if err != nil {
			return fmt.Errorf("putting %q: %w", h.Name, err)
		}
	}
}

// unpacker keeps the directory of the last file open for the next: under emulation each step of a path is felt. It makes
// four system calls for a small file.
type unpacker struct {
	root   string
	beside string // where the host's large files are, or ""
	buf    []byte
	dir    string // below root
	fd     int    // of dir, or -1
}

// enter makes fd the directory dir.
func (u *unpacker) enter(dir string) (err error) {
	if u.fd >= 0 && dir == u.dir {
		return nil
	}
	u.leave()
	u.dir = dir
	u.fd, err = openDir(u.root, dir)
	return err
}

func (u *unpacker) leave() {
	if u.fd >= 0 {
		unix.Close(u.fd)
	}
	u.fd = -1
}

func (u *unpacker) file(name string, mode uint32, size int64, r io.Reader) error {
	if err := u.enter(path.Dir(name)); err != nil {
		return err
	}
	fd, err := create(u.fd, path.Base(name), mode)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := fill(fd, size, r, u.buf); err != nil {
		return err
	}
	return setFileTime(fd)
}

func setFileTime(fd int) error {
	when := [2]unix.Timespec{unix.NsecToTimespec(fileTime.UnixNano()), unix.NsecToTimespec(fileTime.UnixNano())}
	// Without a path it is the file itself (utimensat(2)), which x/sys has no call for.
	if _, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(&when)), 0, 0, 0); errno != 0 { //nolint:gosec // it takes an address
		return errno
	}
	return nil
}

// fill writes a file. The whole pieces of a large one go to the disk without a copy in the kernel's memory: under
// emulation that copy costs as much as all the rest, and no world pays for the memory.
func fill(fd int, size int64, r io.Reader, buf []byte) error {
	direct := size >= int64(len(buf)) && setDirect(fd, unix.O_DIRECT) == nil
	if direct {
		// Its blocks at once and in one piece.
		if err := unix.Fallocate(fd, 0, 0, size); errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
			return err
		}
	}
	for left := size; left > 0; {
		piece := buf[:min(left, int64(len(buf)))]
		if _, err := io.ReadFull(r, piece); err != nil {
			return err
		}
		if direct && len(piece) < len(buf) { // the rest need not be of whole blocks
			if err := setDirect(fd, 0); err != nil {
				return err
			}
		}
		if err := write(fd, piece); err != nil {
			return err
		}
		left -= int64(len(piece))
	}
	return nil
}

// write writes all of b. A disk that is getting full takes a part before it says so.
func write(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

func setDirect(fd, flag int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, flag)
	return err
}

// create makes a file in place of whatever has its name. The guest has no umask.
func create(dir int, base string, mode uint32) (int, error) {
	const flags = unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(dir, base, flags, mode)
	if !errors.Is(err, unix.EEXIST) {
		return fd, err
	}
	if err := unix.Unlinkat(dir, base, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return -1, err
	}
	return unix.Openat(dir, base, flags, mode)
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
