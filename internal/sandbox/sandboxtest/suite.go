// Package sandboxtest is the contract of internal/sandbox as tests: what every provider must pass.
//
// The one rule: a test here knows the contract and a Linux shell (busybox will do), and nothing of the provider.
package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Patience bounds every wait of the suite. It is far beyond what anything takes: an emulated VM on a busy machine may
// stand still for seconds.
const Patience = 2 * time.Minute

// Memory and Disk are those of the VMs that the suite asks for: small, so that both can be used up.
const (
	Memory = policy.Size(256 << 20)
	Disk   = policy.Size(128 << 20)
)

// Create boots a VM from an image with a POSIX shell. The suite destroys it.
type Create func(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error)

// Run holds a provider to the contract. Most tests share one VM, each in worlds of its own. without names what the
// tester's machine cannot give: groups of tests, or calls of confinement.
func Run(t *testing.T, create Create, without ...string) {
	r := &room{create: create, without: without, doors: map[string]func(net.Conn){}}
	r.sandbox = r.boot(t)
	for name, group := range map[string]func(*testing.T, *room){
		"output": testOutput, "input": testInput, "ending": testEnding, "kill": testKill, "limits": testLimits,
		"surroundings": testSurroundings, "confinement": testConfinement, "isolation": testIsolation,
		"files": testFiles, "door": testDoor, "collect": testCollect, "worlds": testWorlds, "layers": testLayers,
	} {
		if slices.Contains(without, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { group(t, r) })
	}
	if slices.Contains(without, "sandbox") {
		return
	}
	// Last: it boots a second VM and ends both.
	t.Run("sandbox", func(t *testing.T) { testSandbox(t, r) })
}

// room is what the tests of one suite share.
type room struct {
	create  Create
	without []string
	sandbox sandbox.Sandbox
	worlds  atomic.Int64

	mu    sync.Mutex
	doors map[string]func(net.Conn) // by world
}

func (r *room) boot(t *testing.T) sandbox.Sandbox {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	sb, err := r.create(ctx, sandbox.Spec{
		Run: "sandboxtest", Isolation: "any", Start: "any", CPUs: 2, Memory: Memory, Disk: Disk, Door: r.door,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sb.Destroy(context.Background())) })
	return sb
}

func (r *room) door(world string, conn net.Conn) {
	r.mu.Lock()
	serve := r.doors[world]
	r.mu.Unlock()
	defer conn.Close()
	if serve != nil {
		serve(conn)
	}
}

// searchPath is the PATH of every world here.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// world opens a world that is closed with the test. spec may be the zero value.
func (r *room) world(t *testing.T, spec sandbox.WorldSpec) *world {
	t.Helper()
	if spec.ID == "" {
		spec.ID = fmt.Sprintf("w%d", r.worlds.Add(1))
	}
	if spec.Env == nil {
		spec.Env = map[string]string{"PATH": searchPath}
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	w, err := r.sandbox.Open(ctx, spec)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		require.NoError(t, w.Close(ctx))
	})
	return &world{World: w, id: spec.ID}
}

// world is a world with shorter words for what tests do all the time.
type world struct {
	sandbox.World
	id string
}

// outcome is a finished command.
type outcome struct {
	sandbox.Result
	stdout, stderr string
}

// run executes cmd, which must have an exit status.
func (w *world) run(t *testing.T, cmd sandbox.Command) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	res, err := w.Run(ctx, cmd, &stdout, &stderr)
	require.NoError(t, err, "stdout %.300q, stderr %.300q", stdout.String(), stderr.String())
	return outcome{res, stdout.String(), stderr.String()}
}

func shell(script string) sandbox.Command { return sandbox.Command{Argv: []string{"sh", "-c", script}} }

// sh runs a script that must succeed and gives its output.
func (w *world) sh(t *testing.T, script string) string {
	t.Helper()
	out := w.run(t, shell(script))
	require.Zero(t, out.ExitCode, "%s: stdout %.300q, stderr %.300q", script, out.stdout, out.stderr)
	return out.stdout
}

// fails runs a script that must not succeed.
func (w *world) fails(t *testing.T, script string) {
	t.Helper()
	out := w.run(t, shell(script))
	require.NotZero(t, out.ExitCode, "%s: stdout %.300q, stderr %.300q", script, out.stdout, out.stderr)
}

// start runs a script until the test ends or stop is called, which returns how it ended. The script must print a line
// "up"; start returns when it has.
func (w *world) start(t *testing.T, script string) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	seen := &watch{want: "up\n", found: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := w.Run(ctx, shell(script), seen, seen)
		ended <- err
	}()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(Patience):
			return fmt.Errorf("a cancelled command goes on after %s", Patience)
		}
	})
	t.Cleanup(func() { _ = stop() })
	select {
	case <-seen.found:
	case err := <-ended:
		ended <- err
		require.Fail(t, "ended too early", "%v: %.300q", err, seen.buf.String())
	case <-time.After(Patience):
		require.Fail(t, "not ready", "%.300q", seen.buf.String())
	}
	return stop
}

// watch is a writer that keeps everything and tells when it has seen some text, if it waits for any.
type watch struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	want  string
	found chan struct{}
	once  sync.Once
}

func (w *watch) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Write(b)
	if w.want != "" && bytes.Contains(w.buf.Bytes(), []byte(w.want)) {
		w.once.Do(func() { close(w.found) })
	}
	return len(b), nil
}
