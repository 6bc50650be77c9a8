package guest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
)

const (
	maxDepth = 64    // of directories in out
	maxSkips = 1_000 // reported one by one; the rest as a number
)

// collector walks /workspace/out and sends what is there. It opens each name below an open directory with O_NOFOLLOW,
// so no component of a path can be a link, whatever the step does meanwhile.
type collector struct {
	frames *guestproto.Frames
	caps   policy.Artifacts
	files  int
	bytes  int64
	skips  int
	buf    []byte
}

func (w *world) collect(caps policy.Artifacts, frames *guestproto.Frames) error {
	// What still runs must not change what is being read.
	if err := endCgroup(w.cgroup); err != nil {
		return err
	}
	c := &collector{frames: frames, caps: caps, buf: make([]byte, 48<<10)}
	fd, err := unix.Open(filepath.Join(w.dir, "workspace"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := c.entry(fd, "out", "", 0); err != nil {
		return err
	}
	if c.skips > maxSkips {
		more := guestproto.FileHeader{Reason: "more", Size: int64(c.skips - maxSkips)}
		if err := frames.WriteJSON(guestproto.FrameSkip, more); err != nil {
			return err
		}
	}
	return frames.Write(guestproto.FrameEnd, nil)
}

// entry takes one name of an open directory. An error is the channel's; what is wrong with the entry is a skip.
func (c *collector) entry(dir int, name, path string, depth int) error {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return c.unopened(dir, name, path, err)
	}
	f := os.NewFile(uintptr(fd), name) //nolint:gosec // a descriptor
	defer f.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return c.skip(path, "unreadable", 0)
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return c.directory(f, path, depth)
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return c.skip(path, kindOf(st.Mode), 0)
	case path == "":
		return c.skip(path, "not a directory", 0)
	case st.Size > int64(c.caps.MaxFile):
		return c.skip(path, "too large", st.Size)
	case c.files >= c.caps.MaxFiles:
		return c.skip(path, "too many files", st.Size)
	case c.bytes+st.Size > int64(c.caps.MaxTotal):
		return c.skip(path, "over the total", st.Size)
	default:
		return c.send(f, path, st)
	}
}

// unopened says what could not be opened: a link (ELOOP), a socket (ENXIO), or a name that has gone.
func (c *collector) unopened(dir int, name, path string, err error) error {
	var st unix.Stat_t
	if unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		if path == "" && errors.Is(err, unix.ENOENT) {
			return nil // no out at all is nothing to collect
		}
		return c.skip(path, "unreadable", 0)
	}
	return c.skip(path, kindOf(st.Mode), 0)
}

func kindOf(mode uint32) string {
	switch mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return "link"
	case unix.S_IFIFO:
		return "fifo"
	case unix.S_IFSOCK:
		return "socket"
	case unix.S_IFCHR, unix.S_IFBLK:
		return "device"
	default:
		return "unreadable"
	}
}

func (c *collector) directory(f *os.File, path string, depth int) error {
	if depth > maxDepth {
		return c.skip(path, "too deep", 0)
	}
	names, err := f.Readdirnames(-1)
	if err != nil {
		return c.skip(path, "unreadable", 0)
	}
	slices.Sort(names)
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "/" + name
		}
		if err := c.entry(int(f.Fd()), name, below, depth+1); err != nil { //nolint:gosec // a descriptor
			return err
		}
	}
	return nil
}

func (c *collector) skip(path, reason string, size int64) error {
	c.skips++
	if c.skips > maxSkips {
		return nil
	}
	return c.frames.WriteJSON(guestproto.FrameSkip, guestproto.FileHeader{Path: []byte(path), Reason: reason, Size: size})
}

// send streams one file, no more of it than it had when it was opened.
func (c *collector) send(f *os.File, path string, st unix.Stat_t) error {
	head := guestproto.FileHeader{Path: []byte(path), Size: st.Size, ModTime: st.Mtim.Nano()}
	if err := c.frames.WriteJSON(guestproto.FrameFile, head); err != nil {
		return err
	}
	var reply guestproto.Reply
	left := st.Size
	for left > 0 {
		n, err := f.Read(c.buf[:min(int64(len(c.buf)), left)])
		if n > 0 {
			if err := c.frames.Write(guestproto.FrameData, c.buf[:n]); err != nil {
				return err
			}
			left -= int64(n)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the file shrank while it was read")
			}
			reply = replyOf(err)
			break
		}
	}
	c.files++
	c.bytes += st.Size
	return c.frames.WriteJSON(guestproto.FrameFileEnd, reply)
}
