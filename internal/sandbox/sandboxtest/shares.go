package sandboxtest

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// quarter is what every world leaves of the memory to others, in MB, less what the VM needs itself.
const quarter = `20`

// testShares: a world that takes all it can get leaves room for others, unless it was said to be alone.
func testShares(t *testing.T, r *room) {
	for name, script := range map[string]string{
		"disk, in the workspace": `dd if=/dev/zero of=/workspace/big bs=1M count=1000`,
		"disk, in the root":      `dd if=/dev/zero of=/etc/big bs=1M count=1000`,
		"files":                  `mkdir many && cd many && seq 32000 | xargs touch`,
	} {
		t.Run(name, func(t *testing.T) {
			other, w := r.world(t, sandboxWorld), r.world(t, sandboxWorld)
			out := w.run(t, shell(script))
			require.NotZero(t, out.ExitCode)
			require.Equal(t, "disk", out.Reason, "%.300s", out.stderr)
			other.sh(t, `dd if=/dev/zero of=/workspace/f bs=1M count=10 && dd if=/dev/zero of=/etc/f bs=1M count=10`)
			other.sh(t, `mkdir d && cd d && seq 500 | xargs touch`)
			require.NoError(t, w.Close(t.Context()))
			other.sh(t, `dd if=/dev/zero of=/etc/big bs=1M count=50`)
		})
	}

	t.Run("disk, alone", func(t *testing.T) {
		share := r.world(t, sandboxWorld)
		size := func(w *world) int { return atoi(t, w.sh(t, `df -k /workspace | tail -n 1 | awk '{print $2}'`)) }
		part := size(share)
		require.NoError(t, share.Close(t.Context()))
		w := r.world(t, sandbox.WorldSpec{Alone: true})
		all := size(w)
		require.InDelta(t, 0.75, float64(part)/float64(all), 0.05)
		out := w.run(t, shell(`dd if=/dev/zero of=/workspace/big bs=1M count=1000`))
		require.Equal(t, "disk", out.Reason, "%.300s", out.stderr)
		require.Greater(t, atoi(t, w.sh(t, `du -k big | cut -f1`)), part)
	})

	t.Run("nobody's files become another's", func(t *testing.T) {
		w := r.probed(t, sandbox.WorldSpec{ID: "projects"})
		for _, path := range []string{"/workspace", "/workspace/f", "/etc", "/etc/hosts", "/root", "/tmp"} {
			w.sh(t, `touch /workspace/f; mkdir -p /root /tmp; probe project `+path)
		}
		// Neither a rename nor a link takes a file out of what is counted.
		out := w.run(t, shell(`dd if=/dev/zero of=big bs=1M count=1000; mv big out/big; ln out/big bigger; dd if=/dev/zero of=more bs=1M count=2`))
		require.NotZero(t, out.ExitCode)
		require.Equal(t, "disk", out.Reason)
	})

	t.Run("memory", func(t *testing.T) {
		// Files that belong to no process, and processes that are each smaller than the neighbour's: were there one
		// limit for both worlds, the neighbour would be the one to end.
		w, other := r.world(t, sandboxWorld), r.world(t, sandboxWorld)
		up := &watch{want: "up\n", found: make(chan struct{})}
		ended := make(chan outcome, 1)
		go func() {
			res, err := w.Run(t.Context(), shell(`dd if=/dev/zero of=/dev/shm/x bs=1M; echo up
				for i in $(seq 12); do dd if=/dev/zero of=/dev/null bs=5M count=100000 & done; wait`), up, io.Discard)
			ended <- outcome{Result: res, stderr: errText(err)}
		}()
		<-up.found
		out := other.run(t, shell(`dd if=/dev/zero of=/dev/null bs=`+quarter+`M count=40`))
		require.Zero(t, out.ExitCode, "a neighbour was harmed: %+v", out.Result)
		hog := <-ended
		require.Empty(t, hog.stderr)
		require.Equal(t, "oom", hog.Reason)
	})

	t.Run("processor", func(t *testing.T) {
		// Thirty busy processes beside one: the one gets about as much as all of them, and is done with its work long before
		// one of the thirty would be with half of that. Were all alike, the half would be done first. It is work for a second,
		// because the kernel takes some tenths to find out how busy each is.
		w, other := r.world(t, sandboxWorld), r.world(t, sandboxWorld)
		const loops = 30000
		const work = `i=0; while [ $i -lt %d ]; do i=$((i+1)); done`
		hogs := w.start(t, `for i in $(seq 29); do while :; do :; done & done; echo up; wait`)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		up, half := &watch{want: "up\n", found: make(chan struct{})}, make(chan error, 1)
		go func() {
			_, err := w.Run(ctx, shell(`echo up; `+fmt.Sprintf(work, loops/2)), up, io.Discard)
			half <- err
		}()
		<-up.found
		t.Logf("beside thirty: %s", other.run(t, shell(fmt.Sprintf(work, loops))).Duration)
		select {
		case err := <-half:
			require.Fail(t, "thirty take what is another world's", "%v", err)
		default:
		}
		cancel()
		require.ErrorIs(t, <-half, context.Canceled)
		require.ErrorIs(t, hogs(), context.Canceled)
	})
}
