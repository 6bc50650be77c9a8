//go:build linux

package microvm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestMain makes this test's program play other parts: the probe that is started in QEMU's place, and the first process
// of a user namespace. A part that fails prints no report, or runs no test, and is missed for that.
func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) > 2 && os.Args[1] == "probe":
		err = probe(os.Stdout, os.Args[2])
	case len(os.Args) > 3 && os.Args[1] == "refuse":
		err = refuseNamespaces(os.Args[2], os.Args[3:])
	default:
		m.Run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// target is what a probe is told to try itself on: things of the test's own, so that the same probe can do them all where
// nothing holds it.
type target struct {
	Dir    string // with the files secret and mine, and the socket bus
	Pid    int    // a process of whoever tests
	Secret uint64 // where in that process's memory there is something to read
}

// probe waits for its channel to say something, or to end, tries everything that a QEMU must not be able to do, prints what
// came of it as one line and ends.
func probe(out io.Writer, arg string) error {
	_, _ = os.NewFile(fdChannel, "channel").Read(make([]byte, 1))
	runtime.LockOSThread() // ptrace and the like are a thread's
	var to target
	if err := json.Unmarshal([]byte(arg), &to); err != nil {
		return err
	}
	report := map[string]string{}
	for name, try := range attempts(to) {
		report[name] = "done"
		if err := try(); err != nil {
			report[name] = err.Error()
		}
	}
	return json.NewEncoder(out).Encode(report)
}

func attempts(to target) map[string]func() error {
	secret, mine := filepath.Join(to.Dir, "secret"), filepath.Join(to.Dir, "mine")
	proc := "/proc/" + strconv.Itoa(to.Pid)
	raw := func(call uintptr, args ...uintptr) error {
		args = append(args, 0, 0, 0)
		if _, _, errno := unix.RawSyscall(call, args[0], args[1], args[2]); errno != 0 {
			return errno
		}
		return nil
	}
	return map[string]func() error{
		"read a file":               func() error { return read(secret) },
		"list a directory":          func() error { _, err := os.ReadDir(to.Dir); return err },
		"list /":                    func() error { _, err := os.ReadDir("/"); return err },
		"write a file":              func() error { return os.WriteFile(mine, []byte("x"), 0o600) },
		"make a file":               func() error { return os.WriteFile(filepath.Join(to.Dir, "new"), nil, 0o600) },
		"make a file in /tmp":       func() error { f, err := os.CreateTemp("/tmp", ".joy-probe-*"); return had(f, err) },
		"make a directory":          func() error { return os.Mkdir(filepath.Join(to.Dir, "newdir"), 0o700) },
		"make a link":               func() error { return os.Symlink("x", filepath.Join(to.Dir, "link")) },
		"rename a file":             func() error { return os.Rename(filepath.Join(to.Dir, "old"), filepath.Join(to.Dir, "older")) },
		"remove a file":             func() error { return os.Remove(filepath.Join(to.Dir, "doomed")) },
		"change a mode":             func() error { return os.Chmod(mine, 0o644) },
		"change a time":             func() error { return unix.Utimes(mine, make([]unix.Timeval, 2)) },
		"cut a file":                func() error { return os.Truncate(mine, 0) },
		"read a process's maps":     func() error { return read(proc + "/maps") },
		"read its environment":      func() error { return read(proc + "/environ") },
		"read its memory":           func() error { return readMemory(to) },
		"trace it":                  func() error { return trace(to.Pid) },
		"signal it":                 func() error { return unix.Kill(to.Pid, unix.SIGURG) }, // which Go ignores
		"signal one of its threads": func() error { return unix.Tgkill(to.Pid, to.Pid, unix.SIGURG) },
		"take its limits":           func() error { return unix.Prlimit(to.Pid, unix.RLIMIT_CORE, nil, &unix.Rlimit{}) },
		"call a socket":             func() error { c, err := net.Dial("unix", filepath.Join(to.Dir, "bus")); return had(c, err) },
		"listen":                    func() error { l, err := net.Listen("tcp", "127.0.0.1:0"); return had(l, err) },
		"watch the kernel":          func() error { return read("/proc/cmdline") },
		"open an io_uring":          func() error { return raw(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(new([256]byte)))) },
		"add a key": func() error {
			_, err := unix.AddKey("user", "joy-probe", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		},
		"make a user namespace": makeNamespace,
		"leave more open":       func() error { return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 512, Max: 512}) },
	}
}

type closer interface{ Close() error }

// had closes what should not have been had, and removes it when it is a file.
func had(c closer, err error) error {
	if err != nil {
		return err
	}
	if f, ok := c.(*os.File); ok {
		_ = os.Remove(f.Name())
	}
	return c.Close()
}

func read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Read(make([]byte, 16))
	return err
}

func readMemory(to target) error {
	b := make([]byte, 8)
	local := []unix.Iovec{{Base: &b[0], Len: 8}}
	_, err := unix.ProcessVMReadv(to.Pid, local, []unix.RemoteIovec{{Base: uintptr(to.Secret), Len: 8}}, 0)
	return err
}

func trace(pid int) error {
	if err := unix.PtraceSeize(pid); err != nil {
		return err
	}
	return unix.PtraceInterrupt(pid) // detached when the probe ends
}

func makeNamespace() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}
	return cmd.Run()
}

// refuseNamespaces makes the namespace it is root of one in which no other can be made, and executes args as an plainUser
// user of it.
func refuseNamespaces(user string, args []string) error {
	for _, kind := range strings.Fields("user net ipc uts mnt pid cgroup") {
		if err := os.WriteFile("/proc/sys/user/max_"+kind+"_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	}
	uid, err := strconv.Atoi(user)
	if err != nil {
		return err
	}
	// Of the whole process: package unix changes one thread.
	if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(uid), syscall.Setuid(uid)); err != nil {
		return err
	}
	return unix.Exec(args[0], args, os.Environ())
}
