package guest

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// channel is the socket between the guest and a world's keeper: length-prefixed messages that may carry descriptors.
type channel struct {
	*net.UnixConn
	write sync.Mutex
}

func socketpair() (*channel, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "keeper")               //nolint:gosec // a descriptor
	ours, err := newChannel(os.NewFile(uintptr(fds[0]), "world")) //nolint:gosec // a descriptor
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return ours, theirs, nil
}

// newChannel takes over f.
func newChannel(f *os.File) (*channel, error) {
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok {
		conn.Close()
		return nil, errors.New("not a unix socket")
	}
	return &channel{UnixConn: unixConn}, nil
}

// send writes one message; the descriptors of files travel with its length. Safe for concurrent use.
func (c *channel) send(body []byte, files ...*os.File) error {
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd()) //nolint:gosec // a descriptor
		}
		rights = unix.UnixRights(fds...)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // bounded by MaxMessage where it is read
	c.write.Lock()
	defer c.write.Unlock()
	if _, _, err := c.WriteMsgUnix(head, rights, nil); err != nil {
		return err
	}
	_, err := c.Write(body)
	return err
}

// receive reads one message and at most most descriptors, which the caller closes.
func (c *channel) receive(most int) ([]byte, []*os.File, error) {
	head := make([]byte, 4)
	oob := make([]byte, unix.CmsgSpace(most*4))
	n, oobn, _, _, err := c.ReadMsgUnix(head, oob)
	if err != nil {
		return nil, nil, err
	}
	files := filesOf(oob[:oobn])
	if n == 0 {
		return nil, files, io.EOF
	}
	if _, err := io.ReadFull(c, head[n:]); err != nil {
		return nil, files, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > guestproto.MaxMessage {
		return nil, files, guestproto.ErrTooLarge
	}
	body := make([]byte, size)
	_, err = io.ReadFull(c, body)
	return body, files, err
}

func filesOf(oob []byte) []*os.File {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	var files []*os.File
	for _, m := range msgs {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed")) //nolint:gosec // a descriptor
		}
	}
	return files
}
