package guest

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// farPipeSize is the room in a pipe with the output of a command that says much, where each piece of it is a message on a way
// of many stations: the command fills it while one is under way.
const farPipeSize = 1 << 20

// gatherTime is how long output that comes without a pause waits for more.
const gatherTime = 3 * time.Millisecond

// far is what a command's pumps wait with on such a way. They wait by poll(2), on a thread each: a pipe that was once in an
// epoll set wakes its reader at every write of the command, of which there are thousands in what is one piece here.
type far struct{ over *os.File } // an eventfd, which says that the command has ended

func newFar() (*far, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &far{os.NewFile(uintptr(fd), "over")}, nil
}

// end has the pumps take what is there, and no more.
func (f *far) end() { _, _ = f.over.Write([]byte{7: 1}) }

// pump carries output until its end, or the command's.
func (f *far) pump(s *stream, kind guestproto.Kind, r *os.File) {
	var last time.Time
	rest, more := 0, false
	for {
		if !more {
			over, err := f.wait(r)
			if over || err != nil {
				break
			}
			if time.Since(last) < 2*gatherTime {
				time.Sleep(gatherTime)
			}
		}
		n, err := s.fill(kind, r, guestproto.MaxFrame)
		if err != nil {
			return
		}
		more, last = n > guestproto.MaxFrame/2, time.Now()
		if more && rest == 0 { // not for every command: what a user has of pipes is counted
			rest, _ = unix.FcntlInt(r.Fd(), unix.F_SETPIPE_SZ, farPipeSize) // with less it goes on, and slower
		}
	}
	for rest = max(rest, pipeSize); rest > 0; {
		n, err := s.fill(kind, r, rest)
		if n <= 0 || err != nil {
			return
		}
		rest -= n
	}
}

// fill sends what is there, at most most bytes: 0 when there is nothing, an error when nothing can come any more.
func (s *stream) fill(kind guestproto.Kind, r *os.File, most int) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	n, err := s.frames.Fill(kind, int64(most), func(b []byte) (n int, _ error) {
		for failed = unix.EINTR; errors.Is(failed, unix.EINTR); {
			n, failed = unix.Read(int(r.Fd()), b)
		}
		return n, nil
	})
	switch {
	case err != nil:
		s.kill()
		return n, err
	case failed == nil && n == 0:
		return 0, io.EOF
	case failed != nil && !errors.Is(failed, unix.EAGAIN):
		return 0, failed
	}
	return max(n, 0), nil
}

// wait waits for output or its end, and says whether the command's end came first.
func (f *far) wait(r *os.File) (over bool, err error) {
	fds := []unix.PollFd{{Fd: int32(f.over.Fd()), Events: unix.POLLIN}, {Fd: int32(r.Fd()), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds, -1)
		if !errors.Is(err, unix.EINTR) {
			return fds[0].Revents != 0, err
		}
	}
}
