package sandboxtest

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// inTime is how long a command that is over, or killed, may take to return: far less than what it would take by itself, and
// far more than it takes on a busy machine.
const inTime = time.Minute

// tree starts processes of every kind that tries to outlive its command: a child, a session of its own, a daemon.
const tree = `sleep 1001 & setsid sleep 1002 & (setsid sh -c 'sleep 1003 & sleep 1004' &) ; `

// survivors lists what is left of tree, one line each.
const survivors = `ps -o pid,args | grep 'sleep 100[0-9]' | grep -v grep || true`

func testKill(t *testing.T, r *room) {
	t.Run("a child that holds the output does not hold the command", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		begin := time.Now()
		out := w.run(t, shell(`sleep 1005 & echo started`))
		require.Less(t, time.Since(begin), inTime)
		require.Equal(t, "started\n", out.stdout)
		require.NotEmpty(t, w.sh(t, survivors), "the child lives on until the world ends")
	})

	t.Run("cancel kills the whole tree", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		stop := w.start(t, tree+`echo up; wait; sleep 1000`)
		begin := time.Now()
		require.ErrorIs(t, stop(), context.Canceled)
		require.Less(t, time.Since(begin), inTime)
		require.Empty(t, w.sh(t, survivors))
	})

	t.Run("a deadline does too", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := w.Run(ctx, shell(tree+`trap '' TERM INT HUP; sleep 1000; sleep 1000`), io.Discard, io.Discard)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Less(t, time.Since(begin), 2*time.Second+inTime)
		require.Empty(t, w.sh(t, survivors))
	})

	t.Run("cancel comes at any moment", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		for wait := time.Duration(0); wait < 200*time.Millisecond; wait += 20 * time.Millisecond {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			begin := time.Now()
			_, err := w.Run(ctx, shell(`sleep 1000`), io.Discard, io.Discard)
			cancel()
			require.ErrorIs(t, err, context.DeadlineExceeded, "after %s", wait)
			require.Less(t, time.Since(begin), inTime)
		}
		require.Empty(t, w.sh(t, survivors))
	})

	t.Run("already cancelled", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Run(ctx, shell(`touch /workspace/ran`), io.Discard, io.Discard)
		require.ErrorIs(t, err, context.Canceled)
		w.fails(t, `ls /workspace/ran`)
	})

	t.Run("only that command", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		keep := w.start(t, `echo up; sleep 1006`)
		stop := w.start(t, `echo up; sleep 1007`)
		require.ErrorIs(t, stop(), context.Canceled)
		left := w.sh(t, survivors)
		require.Contains(t, left, "sleep 1006")
		require.NotContains(t, left, "sleep 1007")
		require.ErrorIs(t, keep(), context.Canceled)
	})

	t.Run("kill -9 -1 ends its own world's commands and nothing else", func(t *testing.T) {
		w, other := r.world(t, sandboxWorld), r.world(t, sandboxWorld)
		neighbour := other.start(t, `echo up; sleep 1008`)
		bystander := make(chan outcome, 1)
		up := &watch{want: "up\n", found: make(chan struct{})}
		go func() {
			res, err := w.Run(context.Background(), shell(`echo up; sleep 1009`), up, io.Discard)
			bystander <- outcome{Result: res, stderr: errText(err)}
		}()
		<-up.found
		w.run(t, shell(`kill -9 -1`))
		ended := <-bystander
		require.Empty(t, ended.stderr)
		require.Equal(t, "SIGKILL", ended.Signal)
		require.Equal(t, "alive\n", w.sh(t, `echo alive`))
		require.Contains(t, other.sh(t, survivors), "sleep 1008")
		require.ErrorIs(t, neighbour(), context.Canceled)
	})

	t.Run("every signal to PID 1", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		// Again and again, and at once: PID 1 is weakest while it forks.
		for range 20 {
			w.sh(t, `for s in 32 33 34 $(seq 1 64); do kill -$s 1 2>/dev/null; done; true`)
		}
		require.Equal(t, "alive\n", w.sh(t, `echo alive`))
	})

	t.Run("close ends what runs", func(t *testing.T) {
		w := r.world(t, sandbox.WorldSpec{})
		up := &watch{want: "up\n", found: make(chan struct{})}
		ended := make(chan error, 1)
		go func() {
			_, err := w.Run(context.Background(), shell(tree+`echo up; sleep 1000`), up, up)
			ended <- err
		}()
		<-up.found
		require.NoError(t, w.Close(t.Context()))
		select {
		case err := <-ended:
			require.Error(t, err)
			require.NotErrorIs(t, err, sandbox.ErrLost)
		case <-time.After(inTime):
			require.Fail(t, "the command outlives its world")
		}
		require.NoError(t, w.Close(t.Context()), "again")
		_, err := w.Run(t.Context(), shell(`true`), io.Discard, io.Discard)
		require.Error(t, err, "in a closed world")
	})

	t.Run("close leaves no process in the VM", func(t *testing.T) {
		// The only number that one world sees of all others is the last of /proc/loadavg's pair: tasks of the VM. It rises
		// with them and falls back. Where the kernel is not the VM's own, others' tasks are in it, and one look may mislead.
		look := r.world(t, sandboxWorld)
		tasks := func() int { return atoi(t, look.sh(t, `cut -d' ' -f4 /proc/loadavg | cut -d/ -f2`)) }
		const many, looks = 60, 5
		for try := range looks {
			before := tasks()
			w := r.world(t, sandboxWorld)
			w.sh(t, `for i in $(seq 60); do setsid sleep 1000 & done; echo`)
			with := tasks()
			require.NoError(t, w.Close(t.Context()))
			after := tasks()
			for limit := time.Now().Add(inTime / looks); after > with-many/2 && time.Now().Before(limit); {
				after = tasks()
			}
			if with > before+many/2 && after <= with-many/2 {
				return
			}
			t.Logf("look %d: %d tasks, with %d more %d, after their end %d", try, before, many, with, after)
		}
		require.Fail(t, "processes of a closed world are left")
	})
}
