package sandboxtest

import (
	"context"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(s))
	require.NoError(t, err)
	return n
}

// neighbour counts beside a world that misbehaves, and must come to its end.
func neighbour(t *testing.T, r *room) (finished func()) {
	t.Helper()
	w := r.world(t, sandboxWorld)
	up := &watch{want: "up\n", found: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	done := make(chan outcome, 1)
	go func() {
		res, err := w.Run(ctx, shell(`echo up; while [ ! -e /workspace/stop ]; do sleep 0.1; done; echo counted`), up, io.Discard)
		done <- outcome{Result: res, stderr: errText(err)}
	}()
	<-up.found
	return func() {
		w.sh(t, `touch /workspace/stop`)
		out := <-done
		require.Empty(t, out.stderr)
		require.Zero(t, out.ExitCode, "a neighbour was harmed: %+v", out.Result)
		require.Empty(t, out.Reason)
		require.Contains(t, up.buf.String(), "counted")
	}
}

func testLimits(t *testing.T, r *room) {
	for name, script := range map[string]string{
		"memory of a process":   `dd if=/dev/zero of=/dev/null bs=180M count=1`,
		"memory in /dev/shm":    `dd if=/dev/zero of=/dev/shm/x bs=1M count=90; dd if=/dev/zero of=/dev/null bs=100M count=1; exit 1`,
		"memory of two daemons": `for i in 1 2; do setsid dd if=/dev/zero of=/dev/null bs=90M count=1000 & done; wait; exit 1`,
	} {
		t.Run(name, func(t *testing.T) {
			finished := neighbour(t, r)
			w := r.world(t, sandboxWorld)
			out := w.run(t, shell(script))
			require.Equal(t, "oom", out.Reason, "%+v %.300s", out.Result, out.stderr)
			require.Equal(t, "SIGKILL", out.Signal, "all of the step is ended")
			finished()
			require.Equal(t, "alive\n", w.sh(t, `echo alive`))
		})
	}

	t.Run("processes", func(t *testing.T) {
		finished := neighbour(t, r)
		w := r.world(t, sandboxWorld)
		out := w.run(t, shell(`for i in $(seq 25); do (for j in $(seq 200); do sleep 1000 & done) & done; i=0; while [ $i -lt 5000 ]; do sleep 1000 & i=$((i+1)); done`))
		require.NotZero(t, out.ExitCode)
		require.Equal(t, "pids", out.Reason, "%+v %.300s", out.Result, out.stderr)
		finished()
	})

	t.Run("a fork bomb", func(t *testing.T) {
		finished := neighbour(t, r)
		w := r.world(t, sandboxWorld)
		stop := w.start(t, `bomb() { bomb | bomb & }; echo up; bomb; sleep 1000`)
		r.world(t, sandboxWorld).sh(t, `sleep 2`) // what the bomb needs to fill its world
		finished()
		require.ErrorIs(t, stop(), context.Canceled)
		require.NoError(t, w.Close(t.Context()))
	})

	testShares(t, r)

	t.Run("directories deeper than anyone follows", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		w.sh(t, `cd /workspace; d=d; for i in $(seq 6); do d=$d/$d; done
			i=0; while [ $i -lt 20 ]; do mkdir -p $d && cd $d; i=$((i+1)); done; true`)
		require.NoError(t, w.Close(t.Context()))
	})
}
