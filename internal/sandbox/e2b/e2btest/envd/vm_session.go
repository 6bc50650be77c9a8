//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// vm serves the host. To the host each connection to the daemon is a command: what it reads and writes is the
// connection's bytes.
type vm struct {
	session *guestproto.Session

	mu      sync.Mutex
	control *os.File // to the daemon; nil until start
	conns   map[int]io.Closer
}

func (v *vm) handle(stream *guestproto.Stream) {
	defer stream.Close()
	var req guestproto.Request
	if err := guestproto.ReadMessage(stream, &req); err != nil {
		return
	}
	var reply guestproto.Reply
	var err error
	switch {
	case req.Op == guestproto.OpStart && req.Start != nil:
		reply.Boot, err = v.start(req.Start)
	case req.Op == guestproto.OpOpen, req.Op == guestproto.OpClose: // there is but one world, the VM
	case req.Op == guestproto.OpRun && req.Run != nil:
		frames := guestproto.NewFrames(stream)
		if err := v.carry(req.Run.ID, frames, stream.Stopped()); err != nil {
			_ = frames.End(guestproto.FrameError, guestproto.Reply{Error: err.Error()})
		}
		return
	case req.Op == guestproto.OpKill:
		v.mu.Lock()
		if c := v.conns[req.Command]; c != nil {
			_ = c.Close()
		}
		v.mu.Unlock()
	default:
		err = fmt.Errorf("unknown request %q", req.Op)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	_ = guestproto.EndWithMessage(stream, reply)
}

// start makes the machine whole and starts the daemon. When that ends, so does the VM.
func (v *vm) start(s *guestproto.Start) (*guestproto.Boot, error) {
	if err := settle(s.Time); err != nil {
		return nil, err
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	daemon, err := startDaemon(theirs)
	if err != nil {
		return nil, err
	}
	go func() {
		if err := reap(daemon); err != nil {
			fmt.Fprintln(os.Stderr, "envd:", err)
		}
		powerOff()
	}()
	// Where systemd would have put it: its children must not stand in the root of the hierarchy.
	const service = "/sys/fs/cgroup/system.slice/envd.service"
	if err := os.MkdirAll(service, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(service+"/cgroup.procs", []byte(strconv.Itoa(daemon)), 0); err != nil {
		return nil, err
	}
	v.mu.Lock()
	v.control = os.NewFile(uintptr(fds[0]), "control")
	v.mu.Unlock()
	var uts unix.Utsname
	var info unix.Sysinfo_t
	if err := errors.Join(unix.Uname(&uts), unix.Sysinfo(&info)); err != nil {
		return nil, err
	}
	return &guestproto.Boot{
		Kernel: unix.ByteSliceToString(uts.Release[:]), Memory: int64(info.Totalram) * int64(info.Unit), CPUs: countCPUs(), Cgroup2: true,
	}, nil
}

// carry makes one connection to the daemon and carries its bytes until either end closes it.
func (v *vm) carry(id int, frames *guestproto.Frames, stopped <-chan struct{}) error {
	conn, err := v.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	v.mu.Lock()
	v.conns[id] = conn
	v.mu.Unlock()
	done := make(chan struct{})
	defer func() {
		close(done)
		v.mu.Lock()
		delete(v.conns, id)
		v.mu.Unlock()
	}()
	go func() {
		select {
		case <-stopped:
			conn.Close()
		case <-done:
		}
	}()
	go func() {
		for {
			kind, body, err := frames.Read()
			if err != nil || kind != guestproto.FrameStdin {
				_ = conn.CloseWrite()
				return
			}
			if _, err := conn.Write(body); err != nil {
				return
			}
		}
	}()
	for {
		if _, err := frames.Fill(guestproto.FrameStdout, chunk, conn.Read); err != nil {
			return frames.End(guestproto.FrameExit, guestproto.Exit{})
		}
	}
}

func (v *vm) dial() (*net.UnixConn, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours := os.NewFile(uintptr(fds[0]), "connection")
	defer ours.Close()
	defer unix.Close(fds[1])
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.control == nil {
		return nil, errors.New("there is no daemon yet")
	}
	if err := unix.Sendmsg(int(v.control.Fd()), []byte{0}, unix.UnixRights(fds[1]), nil, unix.MSG_NOSIGNAL); err != nil {
		return nil, err
	}
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	return conn.(*net.UnixConn), nil //nolint:forcetypeassert // of a unix socket
}
