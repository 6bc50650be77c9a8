package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// termGrace is how long a cancelled tool may take to remove its own temporary files before it is killed.
const termGrace = 10 * time.Second

// tool is one run of an outside program.
type tool struct {
	argv   []string // argv[0] is looked up on the build's PATH unless it is a path
	env    []string // over the fixed environment
	dir    string
	stdin  io.Reader
	stdout io.Writer // nil: the log
	stderr io.Writer // besides the log; may be nil
	// Both are tried first and left out where the system has no namespaces for us; such a system lets nobody mount.
	asRoot    bool // a user's tool sees itself as root
	ownMounts bool // what root's tool mounts goes away with it
}

// run executes one outside program. It and its children end when ctx is cancelled or this process dies. An error
// carries what the program complained of on stderr, or else its last lines.
func (b *builder) run(ctx context.Context, t tool) error {
	path := t.argv[0]
	if !filepath.IsAbs(path) {
		var err error
		if path, err = b.look(path); err != nil {
			return err
		}
	}
	runtime.LockOSThread() // Pdeathsig follows the thread that started the child
	defer runtime.UnlockOSThread()
	var stderr complaints
	heard := io.MultiWriter(&stderr, b.Log)
	if t.stderr != nil {
		heard = io.MultiWriter(heard, t.stderr)
	}
	cmd := b.command(ctx, path, t, heard)
	err := cmd.Start()
	if err != nil && (t.asRoot || t.ownMounts) { // no namespaces here
		t.asRoot, t.ownMounts = false, false
		cmd = b.command(ctx, path, t, heard)
		err = cmd.Start()
	}
	if err == nil {
		err = cmd.Wait()
	}
	if ctx.Err() != nil {
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what of its group did not heed SIGTERM
		}
		return ctx.Err()
	}
	if err != nil {
		return fault.New(fault.Platform, "%s failed: %s%s", filepath.Base(path), err, stderr.lines())
	}
	return nil
}

func (b *builder) command(ctx context.Context, path string, t tool, stderr io.Writer) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, t.argv[1:]...)
	cmd.Env = append(b.toolEnv(), t.env...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = t.dir, t.stdin, t.stdout, stderr
	if cmd.Stdout == nil {
		cmd.Stdout = b.Log
	}
	// SIGTERM to the whole group: mmdebstrap has a chroot of its own to remove.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = termGrace
	if t.asRoot && os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	if t.ownMounts && os.Geteuid() == 0 {
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS
	}
	return cmd
}

// toolEnv is what every tool gets: the C locale, so that output can be read, and little of the user's environment.
func (b *builder) toolEnv() []string {
	env := []string{"LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "PATH=" + b.getenv("PATH") + ":/usr/sbin:/sbin"}
	for _, name := range []string{"HOME", "USER", "LOGNAME", "TMPDIR", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} {
		if v := b.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// output runs a program and gives its stdout, of at most limit bytes.
func (b *builder) output(ctx context.Context, limit int, t tool) ([]byte, error) {
	out := &capped{limit: limit}
	t.stdout = out
	if err := b.run(ctx, t); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// capped is a buffer that refuses more than limit bytes.
type capped struct {
	bytes.Buffer
	limit int
}

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > c.limit {
		return 0, fmt.Errorf("more than %d bytes of output", c.limit)
	}
	return c.Buffer.Write(p)
}
