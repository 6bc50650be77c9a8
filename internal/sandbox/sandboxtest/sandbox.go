package sandboxtest

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// testSandbox ends the suite's VM and boots one more.
func testSandbox(t *testing.T, r *room) {
	first := r.sandbox
	info := first.Info()
	require.NotEmpty(t, info.ID)
	require.NotEmpty(t, info.Provider)
	require.NotEmpty(t, info.Isolation)
	require.Contains(t, []string{"cold", "snapshot"}, info.Start)
	select {
	case <-first.Lost():
		require.Fail(t, "lost", "%v", first.Err())
	default:
	}
	require.NoError(t, first.Err())

	// Of both VMs, what must differ. Random bytes are the first that a new world's process asks for.
	identity := func() (machine, random string) {
		w := r.world(t, sandboxWorld)
		defer w.Close(t.Context())
		return w.sh(t, `cat /etc/machine-id`), w.sh(t, `head -c 32 /dev/urandom | md5sum; cat /proc/sys/kernel/random/uuid`)
	}
	machine, random := identity()
	r.sandbox = r.boot(t)
	machine2, random2 := identity()
	require.NotEqual(t, machine, machine2)
	require.NotEqual(t, random, random2)
	require.NotEqual(t, info.ID, r.sandbox.Info().ID)

	t.Run("destroyed under a command", func(t *testing.T) { testDestroy(t, r, first) })
	t.Run("the other one lives", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		require.Equal(t, "alive\n", w.sh(t, `echo alive`))
		require.NoError(t, w.Close(t.Context()))
	})
}

// testDestroy ends first while a command runs in it, with a context that is cancelled already.
func testDestroy(t *testing.T, r *room, first sandbox.Sandbox) {
	second := r.sandbox
	r.sandbox = first
	defer func() { r.sandbox = second }()
	w, err := first.Open(t.Context(), sandbox.WorldSpec{ID: "last", Env: map[string]string{"PATH": searchPath}})
	require.NoError(t, err)
	up := &watch{want: "up\n", found: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := w.Run(context.Background(), shell(`echo up; sleep 1000`), up, io.Discard)
		ended <- err
	}()
	<-up.found

	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, first.Destroy(cancelled))
	require.NoError(t, first.Destroy(t.Context()), "again")
	select {
	case err := <-ended:
		require.ErrorIs(t, err, sandbox.ErrLost)
	case <-time.After(inTime):
		require.Fail(t, "a command goes on without its VM")
	}
	select {
	case <-first.Lost():
		require.Fail(t, "lost, although it was destroyed")
	default:
	}
	require.NoError(t, first.Err())

	var out bytes.Buffer
	_, err = w.Run(t.Context(), shell(`true`), &out, &out)
	require.ErrorIs(t, err, sandbox.ErrLost)
	require.ErrorIs(t, w.Put(t.Context(), "in", []sandbox.File{file("f", 0o644, "x")}), sandbox.ErrLost)
	_, err = w.Collect(t.Context(), policy.Artifacts{}, func(sandbox.Found, io.Reader) error { return nil })
	require.ErrorIs(t, err, sandbox.ErrLost)
	_, err = first.Open(t.Context(), sandbox.WorldSpec{ID: "late"})
	require.ErrorIs(t, err, sandbox.ErrLost)
	require.ErrorIs(t, w.Close(t.Context()), sandbox.ErrLost)
}
