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

// channel is one end of the socket between the guest and a world's keeper: length-prefixed messages that may carry
// descriptors. The guest's end is polled, since many goroutines share few threads there. The keeper's end blocks: the
// thread that forks is the thread that waits for jobs, and waking it through the poller would wake another one first.
type channel struct {
	polled   *net.UnixConn // the guest's end
	blocking int           // the keeper's end, when polled is nil
	write    sync.Mutex
}

// socketpair makes the guest's end and the file that becomes the keeper's.
func socketpair() (*channel, *os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "world"), os.NewFile(uintptr(fds[1]), "keeper")
	defer ours.Close()
	conn, err := net.FileConn(ours) // a duplicate, which it makes non-blocking
	if err == nil {
		if polled, ok := conn.(*net.UnixConn); ok {
			return &channel{polled: polled}, theirs, nil
		}
		err = errors.Join(errors.New("not a unix socket"), conn.Close())
	}
	return nil, nil, errors.Join(err, theirs.Close())
}

func (c *channel) Close() error {
	if c.polled != nil {
		return c.polled.Close()
	}
	return unix.Close(c.blocking)
}

// send writes one message; the descriptors of files travel with its first byte. Safe for concurrent use.
func (c *channel) send(body []byte, files ...*os.File) error {
	var rights []byte
	if len(files) > 0 {
		fds := make([]int, len(files))
		for i, f := range files {
			fds[i] = int(f.Fd())
		}
		rights = unix.UnixRights(fds...)
	}
	msg := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body)))
	msg = append(msg, body...)
	c.write.Lock()
	defer c.write.Unlock()
	for len(msg) > 0 {
		n, err := c.sendmsg(msg, rights)
		if err != nil {
			return err
		}
		msg, rights = msg[n:], nil
	}
	return nil
}

func (c *channel) sendmsg(b, rights []byte) (int, error) {
	if c.polled != nil {
		n, _, err := c.polled.WriteMsgUnix(b, rights, nil)
		return n, err
	}
	for {
		n, err := unix.SendmsgN(c.blocking, b, rights, nil, unix.MSG_NOSIGNAL)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// receive reads one message and at most most descriptors, which the caller closes.
func (c *channel) receive(most int) ([]byte, []*os.File, error) {
	head := make([]byte, 4)
	oob := make([]byte, unix.CmsgSpace(most*4))
	n, oobn, err := c.recvmsg(head, oob)
	files := filesOf(oob[:oobn])
	if err != nil {
		return nil, files, err
	}
	if err := c.fill(head[n:]); err != nil {
		return nil, files, err
	}
	size := binary.BigEndian.Uint32(head)
	if size > guestproto.MaxMessage {
		return nil, files, guestproto.ErrTooLarge
	}
	body := make([]byte, size)
	return body, files, c.fill(body)
}

// recvmsg reads once; the other end's absence is io.EOF.
func (c *channel) recvmsg(b, oob []byte) (n, oobn int, err error) {
	if c.polled != nil {
		n, oobn, _, _, err = c.polled.ReadMsgUnix(b, oob)
	} else {
		for {
			n, oobn, _, _, err = unix.Recvmsg(c.blocking, b, oob, unix.MSG_CMSG_CLOEXEC)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return max(n, 0), max(oobn, 0), err
}

func (c *channel) fill(b []byte) error {
	for len(b) > 0 {
		n, _, err := c.recvmsg(b, nil)
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
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
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return files
}
