//go:build linux

package main

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// channel is a listener without an address: whoever holds the other end of a socket hands in each connection as a file
// descriptor (unix(7), SCM_RIGHTS). When that end is closed, so is the listener, and the daemon ends.
type channel struct {
	control *os.File
	once    sync.Once
}

// newChannel takes over the descriptor, a SOCK_SEQPACKET socket.
func newChannel(fd uintptr) *channel {
	return &channel{control: os.NewFile(fd, "control")}
}

// Accept waits for the next descriptor; io.EOF when there will be none.
func (c *channel) Accept() (net.Conn, error) {
	for {
		fd, err := c.receive()
		if err != nil {
			return nil, err
		}
		f := os.NewFile(uintptr(fd), "connection")
		conn, err := net.FileConn(f)
		f.Close()
		if err == nil {
			return conn, nil
		}
	}
}

func (c *channel) receive() (int, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	for {
		n, oobn, _, _, err := unix.Recvmsg(int(c.control.Fd()), make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return -1, err
		case n == 0:
			return -1, io.EOF
		}
		messages, err := unix.ParseSocketControlMessage(rights[:oobn])
		if err != nil || len(messages) != 1 {
			return -1, errors.Join(err, errors.New("a message without a descriptor"))
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil || len(fds) != 1 {
			return -1, errors.Join(err, errors.New("not one descriptor"))
		}
		return fds[0], nil
	}
}

func (c *channel) Close() error {
	var err error
	c.once.Do(func() { err = c.control.Close() })
	return err
}

func (c *channel) Addr() net.Addr { return &net.UnixAddr{Name: "control", Net: "unix"} }
