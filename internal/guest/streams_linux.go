package guest

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// streams are a pair of pipes as one connection to the host.
type streams struct{ in, out *os.File }

// newStreams has the poller wait for the pipes, so that a close wakes who reads. The files given are used up.
func newStreams(in, out *os.File) (*streams, error) {
	s := &streams{}
	for _, end := range []struct {
		of *os.File
		to **os.File
	}{{in, &s.in}, {out, &s.out}} {
		// A copy, since a file that blocks stays one; and no step's command may inherit it.
		fd, err := unix.FcntlInt(end.of.Fd(), unix.F_DUPFD_CLOEXEC, 3)
		if err != nil {
			return nil, err
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return nil, err
		}
		*end.to = os.NewFile(uintptr(fd), "host")
	}
	return s, nil
}

func (s *streams) Read(b []byte) (int, error)  { return s.in.Read(b) }
func (s *streams) Write(b []byte) (int, error) { return s.out.Write(b) }
func (s *streams) Close() error                { return errors.Join(s.in.Close(), s.out.Close()) }
