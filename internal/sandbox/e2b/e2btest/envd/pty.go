//go:build linux

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// terminal gives the command a terminal of its own, which carries input and output.
func (p *process) terminal(size ptySize) ([]source, func(), error) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, failf(codeInternal, "error starting pty: %v", err)
	}
	theirs, err := func() (*os.File, error) {
		if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
			return nil, err
		}
		n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
		if err != nil {
			return nil, err
		}
		if err := resize(ours, size); err != nil {
			return nil, err
		}
		return os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}()
	if err != nil {
		ours.Close()
		return nil, nil, failf(codeInternal, "error starting pty: %v", err)
	}
	if uid := p.cmd.SysProcAttr.Credential.Uid; uid != 0 {
		_ = theirs.Chown(int(uid), -1) // a program that opens its terminal by name
	}
	p.pty = ours
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs, theirs, theirs
	p.cmd.SysProcAttr.Setsid, p.cmd.SysProcAttr.Setctty = true, true
	p.cmd.Env = append(p.cmd.Env, "TERM=xterm-256color")
	return []source{{ours, func(b []byte) dataEvent { return dataEvent{PTY: b} }}}, func() { theirs.Close() }, nil
}

func resize(pty *os.File, size ptySize) error {
	err := unix.IoctlSetWinsize(int(pty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
	if err != nil {
		return failf(codeInternal, "error resizing tty: %v", err)
	}
	return nil
}
