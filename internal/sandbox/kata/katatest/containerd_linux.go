// Package katatest gives tests a containerd of their own.
//
// The one rule: it has its own root, state and socket in a directory of the test, opens no port, and is ended by its pid.
// Nothing of the machine's own containerd is seen or touched.
package katatest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/thread"
)

// EnvKata asks for the same tests with Kata's own runtime, where it and KVM are.
const EnvKata = "JOY_TEST_KATA"

// sharedRuntime is what stands for Kata's where there is none: everything but the boundary of the VM is real.
const sharedRuntime = "io.containerd.runc.v2"

// Runtime is the runtime of the tests, and the door it needs in the provider: "" for Kata's own.
func Runtime() (name, door string) {
	if os.Getenv(EnvKata) != "" {
		return "io.containerd.kata.v2", ""
	}
	return sharedRuntime, sharedRuntime
}

// needsRoot says why a user namespace does not do (ADR 0053).
const needsRoot = "this needs root: in a user namespace runc refuses the limits of a container, for no cgroup is the user's, and there is no loop " +
	"device for its disk; sudo -E env PATH=\"$PATH\" go test -run Kata ./cmd/joy, and ./internal/sandbox/kata ./examples"

// Containerd is one daemon.
type Containerd struct {
	Dir     string
	Address string
	path    string
	cmd     *exec.Cmd
	down    chan struct{} // closed when cmd has been reaped
	log     *os.File
}

// plugins of containerd that open ports or need what a test has not.
const config = `version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images"]
[grpc]
  address = %q
[debug]
  level = "warn"
[ttrpc]
  address = %q
`

// Start starts one that ends with the test. It needs root, and Debian's packages containerd and runc.
func Start(t testing.TB) *Containerd {
	t.Helper()
	return StartWith(t, "")
}

// StartWith is Start with a directory that comes first in the daemon's PATH, where it looks for shims.
func StartWith(t testing.TB, programs string) *Containerd {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip(needsRoot)
	}
	// Not t.TempDir: a socket's path is short (unix(7)).
	dir, err := os.MkdirTemp("", "joy-kata-") //nolint:usetesting // as said
	require.NoError(t, err)
	c := &Containerd{Dir: dir, Address: filepath.Join(dir, "state", "containerd.sock"), path: os.Getenv("PATH")}
	if programs != "" {
		c.path = programs + string(os.PathListSeparator) + c.path
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.toml"), fmt.Appendf(nil, config,
		filepath.Join(dir, "root"), filepath.Join(dir, "state"), c.Address, c.Address+".ttrpc"), 0o600))
	c.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	t.Cleanup(func() { c.log.Close() })
	c.Up(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("containerd said: %s", c.said())
		}
		c.Down(t)
		c.unmount()
	})
	return c
}

// Up starts the daemon, again after Down, and waits until it answers.
func (c *Containerd) Up(t testing.TB) {
	t.Helper()
	c.cmd = exec.Command("containerd", "--config", filepath.Join(c.Dir, "config.toml")) //nolint:noctx // Down ends it
	c.cmd.Stdout, c.cmd.Stderr = c.log, c.log
	c.cmd.Env = append(os.Environ(), "PATH="+c.path)
	c.cmd.SysProcAttr = procAttr()
	started, down := make(chan error), make(chan struct{})
	thread.Own(func() { // the signal of this program's death is that of the thread's
		started <- c.cmd.Start()
		<-down
	})
	c.down = down
	require.NoError(t, <-started, "script/setup installs containerd")
	deadline := time.Now().Add(time.Minute)
	for {
		err := c.answers()
		if err == nil {
			return
		}
		require.True(t, time.Now().Before(deadline), "containerd does not come up: %v\n%s", err, c.said())
		time.Sleep(20 * time.Millisecond) // it tells nobody when it listens
	}
}

func (c *Containerd) answers() error {
	conn, err := net.Dial("unix", c.Address) //nolint:noctx // it answers or it does not
	if err != nil {
		return err
	}
	conn.Close()
	client, err := c.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = client.Version(ctx)
	return err
}

// Down ends the daemon by its pid. What runs in its containers goes on, and is the test's to have ended.
func (c *Containerd) Down(t testing.TB) {
	t.Helper()
	c.stop(t, unix.SIGTERM)
}

// Kill is Down of a daemon that has no time to put anything in order.
func (c *Containerd) Kill(t testing.TB) {
	t.Helper()
	c.stop(t, unix.SIGKILL)
}

func (c *Containerd) stop(t testing.TB, signal unix.Signal) {
	t.Helper()
	if c.cmd == nil {
		return
	}
	require.NoError(t, c.cmd.Process.Signal(signal))
	_ = c.cmd.Wait()
	close(c.down)
	c.cmd = nil
}

// Client is connected to it, in joy's namespace. The caller closes it.
func (c *Containerd) Client() (*containerd.Client, error) {
	return containerd.New(c.Address, containerd.WithDefaultNamespace("joy"))
}

func (c *Containerd) said() []byte {
	log, _ := os.ReadFile(c.log.Name())
	return log[max(0, len(log)-4<<10):]
}

// unmount takes away what a container that was left to die has mounted below the directory.
func (c *Containerd) unmount() {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range bytes.Lines(mounts) {
		if f := bytes.Fields(line); len(f) > 4 && bytes.HasPrefix(f[4], []byte(c.Dir+"/")) {
			_ = unix.Unmount(string(f[4]), unix.MNT_DETACH)
		}
	}
}
