package sandboxtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func testOutput(t *testing.T, r *room) {
	w := r.world(t, sandboxWorld)

	t.Run("both streams past any pipe", func(t *testing.T) {
		out := w.run(t, shell(`head -c 5000000 /dev/zero | tr '\0' x; head -c 200000 /dev/zero | tr '\0' y >&2`))
		require.Zero(t, out.ExitCode)
		require.True(t, out.stdout == strings.Repeat("x", 5_000_000), "stdout is not what was written")
		require.True(t, out.stderr == strings.Repeat("y", 200_000), "stderr is not what was written")
	})

	t.Run("bytes as they are", func(t *testing.T) {
		out := w.run(t, shell(`printf 'caf\303'; sleep 0.1; printf '\251\n'; printf '\377\376\000\033[2J\r\n'`))
		require.Equal(t, "caf\xc3\xa9\n\xff\xfe\x00\x1b[2J\r\n", out.stdout)
	})

	t.Run("one line of 2 MB", func(t *testing.T) {
		out := w.run(t, shell(`head -c 2000000 /dev/zero | tr '\0' z`))
		require.Len(t, out.stdout, 2_000_000)
		require.NotContains(t, out.stdout, "\n")
	})

	t.Run("50 MB in bounded memory", func(t *testing.T) {
		const size = 50_000_000
		sum := sha256.New()
		var before, during runtime.MemStats
		runtime.ReadMemStats(&before)
		ctx, cancel := context.WithTimeout(t.Context(), Patience)
		defer cancel()
		res, err := w.Run(ctx, shell(`dd if=/dev/zero bs=50000 count=1000 2>/dev/null`), io.MultiWriter(sum, &peak{stats: &during}), io.Discard)
		require.NoError(t, err)
		require.Zero(t, res.ExitCode)
		want := sha256.New()
		_, err = io.CopyN(want, zeros{}, size)
		require.NoError(t, err)
		require.Equal(t, want.Sum(nil), sum.Sum(nil))
		require.Less(t, int64(during.HeapAlloc)-int64(before.HeapAlloc), int64(16<<20), "of heap")
	})

	t.Run("a reader that stalls", func(t *testing.T) { testStall(t, w) })

	t.Run("a writer that fails ends the command", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), Patience)
		defer cancel()
		full := errors.New("the record is full")
		_, err := w.Run(ctx, shell(`yes`), failing{full}, io.Discard)
		require.ErrorIs(t, err, full)
		w.sh(t, `! pidof yes`)
	})
}

// testStall: what is not read holds the command back, and nothing is lost when reading goes on.
func testStall(t *testing.T, w *world) {
	gate := &gated{open: make(chan struct{}), stalled: make(chan struct{})}
	done := make(chan outcome, 1)
	go func() {
		res, err := w.Run(context.Background(), shell(
			`for i in $(seq 40); do head -c 100000 /dev/zero; echo $i >/workspace/progress; done`), gate, io.Discard)
		done <- outcome{Result: res, stderr: errText(err)}
	}()
	<-gate.stalled
	// It must come to a halt by itself: the same number, several looks in a row.
	last, same := "", 0
	for same < 5 {
		now := w.sh(t, `sleep 0.3; cat /workspace/progress 2>/dev/null || echo 0`)
		if now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
	require.NotEqual(t, "40\n", last, "it ran on although nobody read")
	close(gate.open)
	out := <-done
	require.Empty(t, out.stderr)
	require.Zero(t, out.ExitCode)
	require.Equal(t, 4_000_000, gate.size)
}

func errText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// gated stalls in its first Write until it is opened.
type gated struct {
	open, stalled chan struct{}
	once          sync.Once
	size          int
}

func (g *gated) Write(b []byte) (int, error) {
	g.once.Do(func() { close(g.stalled) })
	<-g.open
	g.size += len(b)
	return len(b), nil
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// peak keeps the statistics of the moment when the heap was largest, looked at every few megabytes.
type peak struct {
	stats *runtime.MemStats
	seen  int
}

func (p *peak) Write(b []byte) (int, error) {
	p.seen += len(b)
	if p.seen > 8<<20 {
		p.seen = 0
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		if now.HeapAlloc > p.stats.HeapAlloc {
			*p.stats = now
		}
	}
	return len(b), nil
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
