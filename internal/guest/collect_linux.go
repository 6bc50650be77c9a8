package guest

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
)

// maxNames bounds the memory, in bytes, of the names that a walk holds at once: those of a directory and of the
// directories it lies in. A workload can make directories of any size, and the walk needs them in order.
const maxNames = 8 << 20

// collector walks /workspace/out and sends what is there. It opens each name below an open directory with O_NOFOLLOW,
// so no component of a path can be a link, whatever the step does meanwhile.
type collector struct {
	frames *guestproto.Frames
	caps   policy.Artifacts
	files  int
	bytes  int64
	skips  map[string]int64 // by reason
	names  int              // bytes held
	beside string           // where files may be laid out for the host, or ""
	laid   int
}

func (w *world) collect(req guestproto.Collect, frames *guestproto.Frames, host io.ReadWriter) error {
	// What still runs must not change what is being read.
	w.kits.drop()
	if err := endChildren(w.cgroup); err != nil {
		return err
	}
	frames.Hold()
	c := newCollector(frames, req.Caps)
	if req.Beside {
		return w.collectBeside(c, host)
	}
	return c.walk(filepath.Join(w.dir, "workspace"))
}

func newCollector(frames *guestproto.Frames, caps policy.Artifacts) *collector {
	return &collector{frames: frames, caps: caps, skips: map[string]int64{}}
}

func (c *collector) walk(workspace string) error {
	fd, err := unix.Open(workspace, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := c.entry(fd, "out", "", 0); err != nil {
		return err
	}
	for _, reason := range slices.Sorted(maps.Keys(c.skips)) {
		if more := c.skips[reason] - guestproto.MaxNamed; more > 0 {
			if err := c.frames.WriteJSON(guestproto.FrameSkip, guestproto.FileHeader{Reason: reason, Count: more}); err != nil {
				return err
			}
		}
	}
	return c.frames.End(guestproto.FrameEnd, nil)
}

// entry takes one name of an open directory. An error is the channel's; what is wrong with the entry is a skip.
func (c *collector) entry(dir int, name, path string, depth int) error {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return c.unopened(dir, name, path, err)
	}
	f := os.NewFile(uintptr(fd), name)
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
		return c.skip(path, "not-a-directory", 0)
	case st.Size > int64(c.caps.MaxFile):
		return c.skip(path, "too-large", st.Size)
	case c.files >= c.caps.MaxFiles:
		return c.skip(path, "count", st.Size)
	case st.Size > int64(c.caps.MaxTotal)-c.bytes:
		return c.skip(path, "total", st.Size)
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
	if depth > guestproto.MaxDepth {
		return c.skip(path, "depth", 0)
	}
	names, held, err := c.list(f)
	if err != nil {
		return c.skip(path, "unreadable", 0)
	}
	if names == nil {
		return c.skip(path, "count", 0)
	}
	c.names += held
	defer func() { c.names -= held }()
	for _, name := range names {
		below := name
		if path != "" {
			below = path + "/" + name
		}
		if err := c.entry(int(f.Fd()), name, below, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// list is what the directory holds, in order, and how many bytes that takes; no names when those are too many.
func (c *collector) list(f *os.File) (names []string, held int, err error) {
	const header = 16 // of a string
	names = []string{}
	for {
		some, err := f.Readdirnames(1024)
		for _, name := range some {
			held += header + len(name)
		}
		if c.names+held > maxNames {
			return nil, 0, nil
		}
		names = append(names, some...)
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, held, nil
		}
		if err != nil {
			return nil, 0, err
		}
	}
}

func (c *collector) skip(path, reason string, size int64) error {
	c.skips[reason]++
	if c.skips[reason] > guestproto.MaxNamed {
		return nil
	}
	return c.frames.WriteJSON(guestproto.FrameSkip, guestproto.FileHeader{Path: []byte(path), Reason: reason, Size: size})
}

// send streams one file, no more of it than it had when it was opened.
func (c *collector) send(f *os.File, path string, st unix.Stat_t) error {
	head := guestproto.FileHeader{Path: []byte(path), Size: st.Size, ModTime: st.Mtim.Nano()}
	left := st.Size
	if st.Size >= guestproto.Bulk {
		if n, ok := c.lay(f); ok {
			head.Beside, left = n, 0
		}
	}
	if err := c.frames.WriteJSON(guestproto.FrameFile, head); err != nil {
		return err
	}
	var reply guestproto.Reply
	for left > 0 {
		var failed error
		n, err := c.frames.Fill(guestproto.FrameData, left, func(b []byte) (n int, _ error) {
			n, failed = f.Read(b)
			return n, nil
		})
		if err != nil {
			return err
		}
		left -= int64(n)
		if failed != nil {
			if errors.Is(failed, io.EOF) {
				failed = errors.New("the file shrank while it was read")
			}
			reply = replyOf(failed)
			break
		}
	}
	c.files++
	c.bytes += st.Size
	return c.frames.WriteJSON(guestproto.FrameFileEnd, reply)
}
