package guest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// hostedSocket is where the carriers of a hosted guest come in: an abstract name in the VM's own network namespace, which
// no world is in. Only root may.
const hostedSocket = "@joy-guest"

// lonely is how long a hosted guest lives on without a carrier. The sandbox's own lease is far shorter.
const lonely = 15 * time.Minute

// readyLine says on stdout of a hosted guest that carriers may come.
const readyLine = "joy-guest waits\n"

// receive serves the host over a pipe, whatever carries it at the time.
func receive(b *booted, stdout io.Writer) error {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: hostedSocket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("waiting for the host: %w", err)
	}
	defer listener.Close()
	pipe := guestproto.NewPipe(false)
	if _, err := io.WriteString(pipe, guestproto.Ready); err != nil {
		return err
	}
	alone := time.AfterFunc(lonely, func() { pipe.Fail(errors.New("nobody came back")) })
	go func() {
		for {
			conn, err := listener.AcceptUnix()
			if err != nil {
				pipe.Fail(err)
				return
			}
			go func() {
				carrier, err := receiveGiven(conn)
				if err != nil {
					conn.Close() // its process ends, and the host brings another
					return
				}
				_ = pipe.Carry(carrier, 0, func() { alone.Reset(lonely) })
				alone.Reset(lonely)
			}()
		}
	}()
	go func() { // while a carrier is there nobody is missed
		for range time.Tick(lonely / 3) {
			if pipe.Carried() {
				alone.Reset(lonely)
			}
		}
	}()
	if _, err := io.WriteString(stdout, readyLine); err != nil {
		return err
	}
	b.port = pipe
	return serve(b)
}

// fromRoot says whether the other end of a socket was root when it connected.
func fromRoot(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	root := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		root = err == nil && cred.Uid == 0
	})
	return err == nil && root
}

// attach is a carrier: it gives its standard streams to the guest, so that no byte passes through it, and lives as long as
// they carry. Its own end closes them, whoever ended it.
func attach(stdin, stdout *os.File) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: hostedSocket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("reaching the guest: %w", err)
	}
	defer conn.Close()
	for _, pipe := range []*os.File{stdin, stdout} {
		_, _ = unix.FcntlInt(pipe.Fd(), unix.F_SETPIPE_SZ, room) // with less all goes on, and slower
	}
	if err := (&channel{polled: conn}).send(nil, stdin, stdout); err != nil {
		return fmt.Errorf("giving the guest what it speaks by: %w", err)
	}
	stdin.Close()
	stdout.Close()
	_, err = io.Copy(io.Discard, conn) // until the guest lets go of them
	return err
}

// given are the standard streams of a carrier's process, which is at the other end of the socket.
type given struct {
	in, out *os.File
	conn    *net.UnixConn
}

// giveLimit is how long a process may take from its coming to giving them.
const giveLimit = 10 * time.Second

// receiveGiven takes what attach gives; they are closed when the process ends. Root alone can give.
func receiveGiven(conn *net.UnixConn) (*given, error) {
	if !fromRoot(conn) {
		return nil, errors.New("a carrier that is not root's")
	}
	_ = conn.SetReadDeadline(time.Now().Add(giveLimit))
	_, files, err := (&channel{polled: conn}).receive(2)
	for i, f := range files {
		files[i], err = polled(f, err)
	}
	if err == nil && len(files) != 2 {
		err = errors.New("a carrier without streams")
	}
	if err != nil {
		for _, f := range files {
			f.Close()
		}
		return nil, err
	}
	_ = conn.SetReadDeadline(time.Time{})
	g := &given{files[0], files[1], conn}
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		g.Close()
	}()
	return g, nil
}

// polled is f, which may be closed while somebody waits for it.
func polled(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return f, err
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f, err
	}
	f.Close()
	err = unix.SetNonblock(fd, true)
	return os.NewFile(uintptr(fd), f.Name()), err
}

// Read gives what the host sends.
func (g *given) Read(b []byte) (int, error) { return g.in.Read(b) }

// Write sends to the host.
func (g *given) Write(b []byte) (int, error) { return g.out.Write(b) }

// Close lets the process end.
func (g *given) Close() error { return errors.Join(g.in.Close(), g.out.Close(), g.conn.Close()) }

// room is what the kernel may hold between the guest and E2B's daemon, so that neither waits for each piece.
const room = 1 << 20

// hostedCommand is what joy asks of joy-guest in a VM that is somebody else's.
func hostedCommand(args []string) (func() error, bool) {
	switch {
	case len(args) >= 2 && args[1] == "host":
		return func() error { return host(args[2:], os.Stdin, os.Stdout, os.Stderr) }, true
	case len(args) == 2 && args[1] == "attach":
		return func() error { return attach(os.Stdin, os.Stdout) }, true
	}
	return nil, false
}
