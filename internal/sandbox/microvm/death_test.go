//go:build linux

package microvm

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// soon bounds what takes milliseconds on an idle machine.
const soon = 30 * time.Second

var testEnv = map[string]string{"PATH": "/usr/local/bin:/usr/bin:/bin"}

// running boots a VM with a command in it that does not end by itself.
func running(t *testing.T, p *Provider, spec sandbox.Spec) (v *vm, ended <-chan error) {
	t.Helper()
	sb, err := p.Create(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sb.Destroy(context.Background())) })
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "step", Env: testEnv})
	require.NoError(t, err)
	out, said := io.Pipe()
	result := make(chan error, 1)
	go func() {
		_, err := w.Run(context.Background(), sandbox.Command{Argv: []string{"sh", "-c", "echo up; sleep 1000"}}, said, said)
		result <- err
	}()
	_, err = bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	v, ok := sb.(*vm)
	require.True(t, ok)
	return v, result
}

func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(soon):
		require.Fail(t, what)
	}
}

// gone requires that neither the process nor a file of the VM is left.
func gone(t *testing.T, p *Provider, id string) {
	t.Helper()
	require.False(t, Alive(id))
	pid, _, err := parseID(id)
	require.NoError(t, err)
	require.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH)
	left, err := os.ReadDir(p.Scratch)
	require.NoError(t, err)
	require.Empty(t, left)
	was, err := Reap(id)
	require.NoError(t, err)
	require.False(t, was)
}

func TestVMIsKilled(t *testing.T) {
	p, spec := testProvider(t)
	v, ended := running(t, p, spec)
	left, err := os.ReadDir(p.Scratch)
	require.NoError(t, err)
	require.Empty(t, left, "the scratch disk has no name")
	id := v.Info().ID
	require.True(t, Alive(id))

	was, err := Reap(id + "0") // the same pid, another start
	require.NoError(t, err)
	require.False(t, was)
	require.True(t, Alive(id))

	was, err = Reap(id) // a SIGKILL from outside, as joy gc would send it
	require.NoError(t, err)
	require.True(t, was)
	within(t, v.Lost(), "the loss is not noticed")
	select {
	case err := <-ended:
		require.ErrorIs(t, err, sandbox.ErrLost)
	case <-time.After(soon):
		require.Fail(t, "a command goes on without its VM")
	}
	require.ErrorIs(t, v.Err(), sandbox.ErrLost)
	require.ErrorContains(t, v.Err(), "signal: killed")
	require.NoError(t, v.Destroy(t.Context()))
	require.NoError(t, v.Destroy(t.Context()), "again")
	require.ErrorIs(t, v.Err(), sandbox.ErrLost, "it was lost all the same")
	gone(t, p, id)
}

// TestVMStandsStill: a stopped QEMU answers nothing, and is destroyed like any other.
func TestVMStandsStill(t *testing.T) {
	p, spec := testProvider(t)
	v, ended := running(t, p, spec)
	require.NoError(t, unix.Kill(v.proc.pid, unix.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := v.Open(ctx, sandbox.WorldSpec{ID: "late", Env: testEnv})
	require.ErrorIs(t, err, context.DeadlineExceeded)

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	require.NoError(t, v.Destroy(cancelled))
	require.Less(t, time.Since(begin), soon)
	require.ErrorIs(t, <-ended, sandbox.ErrLost)
	gone(t, p, v.Info().ID)
}

func TestReapOfWhatIsNoVM(t *testing.T) {
	for _, id := range []string{"", "qemu", "qemu:", "qemu:1:1", "qemu:0:5", "qemu:-1:5", "kata:7:5", "qemu:a:b"} {
		_, err := Reap(id)
		require.ErrorContains(t, err, "does not name", "%q", id)
		require.False(t, Alive(id))
	}
}

func TestCreateIsGivenUp(t *testing.T) {
	p, spec := testProvider(t)
	t.Run("while it boots", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		spec := spec
		spec.Start = "cold"
		var id string
		spec.Started = func(started string) error {
			id = started
			require.True(t, Alive(id))
			pid, _, err := parseID(id)
			go func() { // somewhere in the boot, which takes far more
				for Alive(started) && cpuTime(pid) < 50*time.Millisecond {
					time.Sleep(time.Millisecond)
				}
				cancel()
			}()
			return err
		}
		_, err := p.Create(ctx, spec)
		require.ErrorIs(t, err, context.Canceled)
		gone(t, p, id)
	})
	t.Run("by whoever keeps the record", func(t *testing.T) {
		full := errors.New("the record is full")
		var id string
		spec.Started = func(started string) error { id = started; return full }
		_, err := p.Create(t.Context(), spec)
		require.ErrorIs(t, err, full)
		gone(t, p, id)
	})
}

// keepsVM is the variable that makes this test's program a joy that holds a VM until it is killed.
const keepsVM = "JOY_TEST_KEEPS_VM"

// TestJoyDies: the VM dies with the joy that started it, also when that is killed and can do nothing about it.
func TestJoyDies(t *testing.T) {
	p, spec := testProvider(t)
	if os.Getenv(keepsVM) != "" {
		p.Scratch = os.Getenv(keepsVM)
		sb, err := p.Create(context.Background(), spec)
		require.NoError(t, err)
		require.NoError(t, json.NewEncoder(os.Stdout).Encode(sb.Info()))
		select {}
	}
	joy := exec.Command(os.Args[0], "-test.run", "^TestJoyDies$")
	joy.Env = append(os.Environ(), keepsVM+"="+p.Scratch, "TMPDIR="+t.TempDir()) // a test that is killed leaves its own
	joy.Stderr = os.Stderr
	out, err := joy.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, joy.Start())
	defer func() { _ = joy.Process.Kill() }()
	var info sandbox.Info
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err, "%s", line)
	require.NoError(t, json.NewDecoder(strings.NewReader(line)).Decode(&info))
	require.True(t, Alive(info.ID))

	require.NoError(t, joy.Process.Kill())
	_ = joy.Wait() // its status is "killed"
	require.Eventually(t, func() bool { return !Alive(info.ID) }, soon, 10*time.Millisecond)
	left, err := os.ReadDir(p.Scratch)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestJoyDiesAlone: the kernel's signal is enough, for a process that reads no channel, has a uid of its own and is the
// first of its PID namespace.
func TestJoyDiesAlone(t *testing.T) {
	if os.Getenv(keepsVM) != "" {
		p, _ := launched(t, "/bin/sleep", []string{"1000"})
		require.NoError(t, json.NewEncoder(os.Stdout).Encode(p.id))
		select {}
	}
	joy := exec.Command(os.Args[0], "-test.run", "^TestJoyDiesAlone$")
	joy.Env = append(os.Environ(), keepsVM+"=1", "TMPDIR="+t.TempDir())
	joy.Stderr = os.Stderr
	out, err := joy.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, joy.Start())
	defer func() { _ = joy.Process.Kill() }()
	var id string
	require.NoError(t, json.NewDecoder(out).Decode(&id))
	require.True(t, Alive(id))
	require.NoError(t, joy.Process.Kill())
	begin := time.Now()
	_ = joy.Wait() // its status is "killed"
	require.Eventually(t, func() bool { return !Alive(id) }, soon, time.Millisecond)
	t.Logf("gone %s after the kill", time.Since(begin))
}
