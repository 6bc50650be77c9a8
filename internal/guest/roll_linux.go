package guest

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// mostRolled is how long a file of frames becomes, in bytes, before the host is told of it and another is begun: the
// host reads one while the next is written.
const mostRolled = 8 << 20

// roll takes a collection's frames when its host fetches files itself: few go through the session, many into files
// beside it. What the disk does not take goes through the session after all. Each Write is of whole frames.
type roll struct {
	*collector
	session io.ReadWriter
	held    []byte   // until there is much
	file    *os.File // nil: none at the moment
	number  int      // of it
	size    int64    // of the frames in it
	off     bool     // no more files
}

// newRoll has the collector's frames go there. Without a place for files all go through the session.
func newRoll(c *collector, session io.ReadWriter) *roll {
	r := &roll{collector: c, session: session, off: c.beside == ""}
	c.frames = guestproto.NewFrames(r)
	c.frames.Hold()
	return r
}

func (r *roll) Read(b []byte) (int, error) { return r.session.Read(b) }

func (r *roll) Write(b []byte) (int, error) {
	if !r.off && r.file == nil && len(r.held)+len(b) < guestproto.Bulk {
		r.held = append(r.held, b...)
		return len(b), nil
	}
	if len(r.held) > 0 {
		if err := r.take(r.held); err != nil {
			return 0, err
		}
		r.held = r.held[:0]
	}
	return len(b), r.take(b)
}

// take puts frames into a file, or sends them.
func (r *roll) take(frames []byte) error {
	if r.add(frames) {
		if r.size < mostRolled {
			return nil
		}
		return r.tell()
	}
	r.off = true
	if err := r.tell(); err != nil {
		return err
	}
	_, err := r.session.Write(frames)
	return err
}

// add puts frames into a file, all or none.
func (r *roll) add(frames []byte) bool {
	if r.off {
		return false
	}
	if r.file == nil {
		if !r.room() {
			return false
		}
		f, err := os.OpenFile(filepath.Join(r.beside, guestproto.BesideOut(r.laid+1)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return false
		}
		r.laid++
		r.file, r.number, r.size = f, r.laid, 0
	}
	if _, err := r.file.Write(frames); err != nil {
		_ = r.file.Truncate(r.size) // else the host finds that it is longer than it was told, and gives up
		return false
	}
	r.size += int64(len(frames))
	return true
}

// room says whether the world may use so much more of the disk. Its limit does not hold the guest, and what lies beyond
// it is its neighbours'.
func (r *roll) room() bool {
	var st unix.Statfs_t
	return unix.Statfs(r.beside, &st) == nil && int64(st.Bavail)*st.Bsize >= mostRolled+guestproto.MaxChunk
}

// tell ends the file and says to the host that the next frames are there.
func (r *roll) tell() error {
	if r.file == nil {
		return nil
	}
	_ = r.file.Close() // a full disk was told at the write
	r.file = nil
	if r.size == 0 {
		return nil
	}
	return guestproto.NewFrames(r.session).WriteJSON(guestproto.FrameBeside, guestproto.FileHeader{Beside: r.number, Size: r.size})
}

// flush tells the host of all that it does not know yet.
func (r *roll) flush() error {
	if err := r.tell(); err != nil {
		return err
	}
	_, err := r.session.Write(r.held)
	return err
}
