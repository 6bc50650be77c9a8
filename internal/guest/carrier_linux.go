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
				if !fromRoot(conn) {
					conn.Close()
					return
				}
				widen(conn)
				_ = pipe.Carry(conn, 0, func() { alone.Reset(lonely) })
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

// attach is a carrier: this process's standard streams become the guest's. It ends when either end does.
func attach(stdin io.Reader, stdout io.Writer) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: hostedSocket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("reaching the guest: %w", err)
	}
	defer conn.Close()
	widen(conn, stdin, stdout)
	ended := make(chan error, 2)
	go func() {
		ended <- carry(conn, stdin)
	}()
	go func() {
		ended <- carry(stdout, conn)
	}()
	return <-ended
}

// carry copies in large pieces. The kernel would splice them, as io.Copy asks it to, in the pieces that a socket has them
// in, and the daemon makes a message of each.
func carry(w io.Writer, r io.Reader) error {
	type writer struct{ io.Writer }
	type reader struct{ io.Reader }
	_, err := io.CopyBuffer(writer{w}, reader{r}, make([]byte, room/4))
	return err
}

// room is what the kernel may hold between this process and its neighbours, so that neither waits for each piece.
const room = 1 << 20

// widen makes that room, where it can be had: with less all goes on, and slower.
func widen(conn *net.UnixConn, pipes ...any) {
	_ = conn.SetReadBuffer(room)
	_ = conn.SetWriteBuffer(room)
	for _, p := range pipes {
		if f, ok := p.(*os.File); ok {
			_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, room)
		}
	}
}

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
