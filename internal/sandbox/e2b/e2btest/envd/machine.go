//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// furnish gives the root below dir what E2B's templates have: the user "user" with a home, names, a place for files.
func furnish(dir string) error {
	for _, d := range []struct {
		path string
		mode os.FileMode
		uid  int
	}{{"tmp", 0o1777, 0}, {"home", 0o755, 0}, {"home/user", 0o755, 1000}, {"root", 0o700, 0}} {
		path := filepath.Join(dir, d.path)
		mode := d.mode.Perm()
		if d.mode&0o1000 != 0 {
			mode |= os.ModeSticky
		}
		if err := errors.Join(os.MkdirAll(path, 0o755), os.Chmod(path, mode), os.Chown(path, d.uid, d.uid)); err != nil {
			return err
		}
	}
	for name, line := range map[string]string{
		"etc/passwd": "user:x:1000:1000::/home/user:/bin/bash\n",
		"etc/group":  "user:x:1000:\n",
		"etc/hosts":  "127.0.0.1 localhost e2b\n",
	} {
		path := filepath.Join(dir, name)
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if strings.Contains(string(old), line) {
			continue
		}
		if err := os.WriteFile(path, append(old, line...), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// startDaemon starts this program once more as the daemon, which reads connections from control. Its children are not
// those of PID 1, which reaps whatever loses its parent.
func startDaemon(control *os.File) (pid int, err error) {
	p, err := os.StartProcess("/proc/self/exe", []string{nameDaemon}, &os.ProcAttr{
		Dir: "/", Env: []string{"PATH=" + searchPath}, Files: []*os.File{nil, os.Stderr, os.Stderr, control},
	})
	if err != nil {
		return 0, fmt.Errorf("starting the daemon: %w", err)
	}
	pid = p.Pid
	return pid, p.Release()
}

// reap waits for every child; it returns when the daemon has ended. The kernel then kills what is left of the machine.
func reap(daemon int) error {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case pid == daemon && status.ExitStatus() != 0:
			return fmt.Errorf("the daemon ended: %d", status)
		case pid == daemon:
			return nil
		}
	}
}
