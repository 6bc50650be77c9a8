//go:build linux

package microvm

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// TestNoGrowth creates, uses and destroys VMs, one after another and several at once: what joy's process holds is the
// same afterwards. JOY_SOAK, which script/soak sets, takes a hundred of each, eight at a time.
func TestNoGrowth(t *testing.T) {
	p, spec := testProvider(t)
	runs, atOnce := 5, 2
	if os.Getenv("JOY_SOAK") != "" {
		runs, atOnce = 100, 8
	}
	require.NoError(t, useVM(t.Context(), p, spec)) // what is made once is made now
	before := held(t, p)
	for range runs {
		require.NoError(t, useVM(t.Context(), p, spec))
	}
	one := before.requireNoMore(t, p)
	t.Logf("before %v, after %d runs %v", before, runs, one)

	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(atOnce)
	for range runs {
		group.Go(func() error { return useVM(ctx, p, spec) })
	}
	require.NoError(t, group.Wait())
	many := before.requireNoMore(t, p)
	t.Logf("after %d more, %d at a time: %v", runs, atOnce, many)
}

// useVM is the life of one VM, with a step in it.
func useVM(ctx context.Context, p *Provider, spec sandbox.Spec) error {
	sb, err := p.Create(ctx, spec)
	if err != nil {
		return err
	}
	defer func() { _ = sb.Destroy(context.Background()) }()
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: "step", Env: testEnv})
	if err != nil {
		return err
	}
	script := "head -c 1000000 /dev/zero; echo x >out/x"
	if _, err := w.Run(ctx, sandbox.Command{Argv: []string{"sh", "-c", script}}, io.Discard, io.Discard); err != nil {
		return err
	}
	caps := policy.Artifacts{MaxFile: 1 << 20, MaxTotal: 1 << 20, MaxFiles: 10}
	_, err = w.Collect(ctx, caps, func(_ sandbox.Found, r io.Reader) error {
		_, err := io.Copy(io.Discard, r)
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(ctx); err != nil {
		return err
	}
	return sb.Destroy(ctx)
}

// holdings is what a process has that could grow.
type holdings struct{ descriptors, goroutines, threads, children, files, heapKiB int }

func held(t *testing.T, p *Provider) holdings {
	t.Helper()
	var h holdings
	for range 2 {
		runtime.GC()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	h.heapKiB = int(memory.HeapAlloc >> 10)
	h.goroutines = runtime.NumGoroutine()
	h.descriptors, h.threads = len(names(t, "/proc/self/fd")), len(names(t, "/proc/self/task"))
	h.files = len(names(t, p.Scratch))
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, name := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		require.NoError(t, err)
		fields, err := statFields(pid)
		if err == nil && fields[1] == strconv.Itoa(os.Getpid()) {
			h.children++
		}
	}
	return h
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(dir)
	require.NoError(t, err)
	defer f.Close()
	list, err := f.Readdirnames(-1)
	require.NoError(t, err)
	return list
}

// requireNoMore compares with what was held before. Threads and the heap belong to Go, which keeps some for later.
// Goroutines, and the descriptors that they close, end a moment after what they waited for.
func (h holdings) requireNoMore(t *testing.T, p *Provider) (now holdings) {
	t.Helper()
	most := holdings{h.descriptors, h.goroutines + 2, h.threads + 16, 0, 0, h.heapKiB + 4<<10}
	for limit := time.Now().Add(soon); ; time.Sleep(10 * time.Millisecond) {
		now = held(t, p)
		if now.descriptors <= most.descriptors && now.goroutines <= most.goroutines && now.threads <= most.threads &&
			now.children == 0 && now.files == 0 && now.heapKiB <= most.heapKiB {
			return now
		}
		require.True(t, time.Now().Before(limit), "%+v is more than %+v", now, most)
	}
}
