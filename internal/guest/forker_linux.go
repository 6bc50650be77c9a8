package guest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/guestproto"
)

// forkLimit is how long a command may take from its fork to its program. Only a command that the workload has stopped
// there takes that long, and meanwhile nothing else in the guest can be forked.
const forkLimit = 5 * time.Second

// forker is a thread of the guest that has entered a world and given up what a step must not have. It forks the world's
// commands: they are where it is, have what it has left, and are the guest's own children, so that no other process
// stands between a command and the stream that it is on.
type forker struct {
	jobs  chan func()
	tid   int
	quit  chan struct{}
	ended chan struct{}
}

type forked struct {
	pid   int
	begin time.Time
	err   error
}

// newForker has a thread enter the namespaces of a keeper, the process pid, and restricts it. The keeper need not have
// its root yet: when it pivots into it, the kernel takes this thread along (pivot_root(2)). A job is done on the thread.
// Close ends it.
func newForker(pid int) (*forker, error) {
	f := &forker{jobs: make(chan func()), quit: make(chan struct{}), ended: make(chan struct{})}
	ready := make(chan error, 1)
	go func() {
		defer close(f.ended)
		runtime.LockOSThread() // and never unlocked: what this thread has become must not run anything else
		f.tid = unix.Gettid()
		err := enterWorld(pid)
		ready <- err
		if err != nil {
			return
		}
		for {
			select {
			case job := <-f.jobs:
				job()
			case <-f.quit:
				return
			}
		}
	}()
	return f, <-ready
}

// enterWorld takes the calling thread into the namespaces of pid and restricts it.
func enterWorld(pid int) error {
	// Threads share root, working directory and umask; this one's are to be its own.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("entering the world: %w", err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return fmt.Errorf("entering the world: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Setns(fd, worldNamespaces); err != nil {
		return fmt.Errorf("entering the world: %w", err)
	}
	return restrict()
}

// enter has the thread be where a step begins, once the world has its root.
func (f *forker) enter() error {
	done := make(chan error, 1)
	f.jobs <- func() { done <- unix.Chdir("/workspace") }
	return <-done
}

// Close waits until the thread has let go of the world's namespaces. No job is taken any more.
func (f *forker) Close() error {
	close(f.quit)
	<-f.ended
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if errors.Is(unix.Tgkill(os.Getpid(), f.tid, 0), unix.ESRCH) {
			return nil
		}
	}
	return errors.New("a thread stays in the world")
}

// fork starts a command with its end of the kit. It is for the forker's thread.
func fork(argv []string, env map[string]string, k *kit) forked {
	path, err := lookPath(argv, env["PATH"])
	if err != nil {
		return forked{err: err}
	}
	stuck := time.AfterFunc(forkLimit, func() { _ = killCgroup(k.cgroup) })
	defer stuck.Stop()
	begin := time.Now()
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: "/workspace", Env: flatten(env),
		Files: []uintptr{k.in.theirs.Fd(), k.out[0].theirs.Fd(), k.out[1].theirs.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, UseCgroupFD: true, CgroupFD: int(k.dir.Fd())},
	})
	if err != nil {
		return forked{err: startError(path, err)}
	}
	return forked{pid, begin, nil}
}

// await waits for a command and tells how it ended.
func (c forked) await() (guestproto.Exit, error) {
	for {
		var status unix.WaitStatus
		switch _, err := unix.Wait4(c.pid, &status, 0, nil); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return guestproto.Exit{}, fmt.Errorf("waiting for the command: %w", err)
		default:
			return exitOf(status, time.Since(c.begin)), nil
		}
	}
}

// startError tells a missing program from a script whose interpreter is missing: the kernel has one word for both.
func startError(path string, err error) error {
	if errors.Is(err, unix.ENOENT) && exists(path) {
		return fmt.Errorf("exec %s: its interpreter is not there", path)
	}
	return &os.PathError{Op: "exec", Path: path, Err: err}
}

func exitOf(status unix.WaitStatus, took time.Duration) guestproto.Exit {
	if status.Signaled() {
		return guestproto.Exit{Code: 128 + int(status.Signal()), Signal: unix.SignalName(status.Signal()), Duration: took}
	}
	return guestproto.Exit{Code: status.ExitStatus(), Duration: took}
}

func mergeEnv(base, over map[string]string) map[string]string {
	env := make(map[string]string, len(base)+len(over))
	for _, m := range []map[string]string{base, over} {
		for k, v := range m {
			env[k] = v
		}
	}
	return env
}

func flatten(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	return out
}

// lookPath finds argv[0] on the command's own PATH, not the guest's.
func lookPath(argv []string, path string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errors.New("an empty command")
	}
	if strings.Contains(argv[0], "/") {
		return argv[0], nil
	}
	for dir := range strings.SplitSeq(path, ":") {
		candidate := filepath.Join(dir, argv[0])
		if info, err := os.Stat(candidate); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return candidate, nil
		}
	}
	return "", &exec.Error{Name: argv[0], Err: exec.ErrNotFound}
}
