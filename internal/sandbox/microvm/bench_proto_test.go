//go:build linux

package microvm

import (
	"context"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/guestproto"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// benchWorld is a world of a running VM whose joy-guest is as its source is now.
func benchWorld(b *testing.B) (*vm, sandbox.World) {
	b.Helper()
	p, spec := benchProvider(b)
	guest := sandboxtest.Guest(b)
	p.Guest = guest
	sb, err := p.Create(context.Background(), spec)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, sb.Destroy(context.Background())) })
	w, err := sb.Open(context.Background(), sandbox.WorldSpec{ID: "bench", Env: benchEnv})
	require.NoError(b, err)
	return sb.(*vm), w
}

// BenchmarkTransfer compares what Put and Collect carry a second with bytes that mean nothing on a stream of the same
// channel, which nobody reads from a disk nor writes to one. They are taken in turn.
func BenchmarkTransfer(b *testing.B) {
	for _, files := range []struct {
		name  string
		count int
		size  int64
	}{{"large", 1, 64 << 20}, {"small", 1000, 4 << 10}} {
		b.Run("in/"+files.name, func(b *testing.B) {
			m, w := benchWorld(b)
			content := zeroFiles(files.count, files.size)
			compare(b, m, int64(files.count)*files.size, func(ctx context.Context, total int64) error {
				_, err := m.Measure(ctx, guestproto.Ping{}, total)
				return err
			}, func(ctx context.Context) error { return w.Put(ctx, "in", content) })
		})
		b.Run("out/"+files.name, func(b *testing.B) {
			m, w := benchWorld(b)
			require.NoError(b, w.Put(context.Background(), "out", zeroFiles(files.count, files.size)))
			caps := policy.Artifacts{MaxFile: policy.Size(files.size), MaxTotal: 1 << 30, MaxFiles: files.count}
			compare(b, m, int64(files.count)*files.size, func(ctx context.Context, total int64) error {
				_, err := m.Measure(ctx, guestproto.Ping{Send: total}, 0)
				return err
			}, func(ctx context.Context) error {
				got := 0
				_, err := w.Collect(ctx, caps, func(_ sandbox.Found, r io.Reader) error {
					got++
					_, err := io.Copy(io.Discard, r)
					return err
				})
				require.Equal(b, files.count, got)
				return err
			})
		})
	}
}

func zeroFiles(count int, size int64) []sandbox.File {
	files := make([]sandbox.File, count)
	for i := range files {
		files[i] = sandbox.File{Path: fmt.Sprintf("%04d", i), Mode: 0o644, Size: size, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.LimitReader(zeros{}, size)), nil
		}}
	}
	return files
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func compare(b *testing.B, m *vm, total int64, raw func(context.Context, int64) error, files func(context.Context) error) {
	var plain, real []time.Duration
	var plainCPU, realCPU time.Duration
	for b.Loop() {
		wall, cpu := m.timed(func() { require.NoError(b, raw(context.Background(), total)) })
		plain, plainCPU = append(plain, wall), plainCPU+cpu
		wall, cpu = m.timed(func() { require.NoError(b, files(context.Background())) })
		real, realCPU = append(real, wall), realCPU+cpu
	}
	b.ReportMetric(float64(total)/1e6/median(real).Seconds(), "MB/s")
	b.ReportMetric(float64(total)/1e6/median(plain).Seconds(), "raw-MB/s")
	b.ReportMetric(float64(median(plain))/float64(median(real)), "speed-ratio")
	b.ReportMetric(float64(plainCPU)/float64(max(realCPU, 1)), "cpu-speed-ratio")
}

// timed tells how long something took, and how much of QEMU's time: that is steadier on a busy machine.
func (v *vm) timed(do func()) (wall, cpu time.Duration) {
	begin, used := time.Now(), cpuTime(v.proc.pid)
	do()
	return time.Since(begin), cpuTime(v.proc.pid) - used
}

// BenchmarkRoundTrip compares a trivial command on a running VM, at the provider, with the same command forked and
// waited for by the guest itself. The two are taken in turn.
func BenchmarkRoundTrip(b *testing.B) {
	m, w := benchWorld(b)
	ctx := context.Background()
	run := func() {
		res, err := w.Run(ctx, sandbox.Command{Argv: []string{"/bin/true"}}, io.Discard, io.Discard)
		require.NoError(b, err)
		require.Zero(b, res.ExitCode)
	}
	alone := func() time.Duration {
		took, err := m.Ping(ctx, "/image/bin/busybox", "true") // what /bin/true leads to
		require.NoError(b, err)
		return took
	}
	var trip, fork, ping []time.Duration
	var tripCPU, forkCPU time.Duration
	const times = 50 // one alone says little
	for b.Loop() {
		for range times {
			begin := time.Now()
			run()
			trip = append(trip, time.Since(begin))
			fork = append(fork, alone())
			begin = time.Now()
			_, err := m.Ping(ctx)
			require.NoError(b, err)
			ping = append(ping, time.Since(begin))
		}
		_, cpu := m.timed(func() {
			for range times {
				run()
			}
		})
		tripCPU += cpu
		_, cpu = m.timed(func() {
			for range times {
				alone()
			}
		})
		forkCPU += cpu
	}
	b.ReportMetric(float64(median(trip).Microseconds())/1e3, "ms/round-trip")
	b.ReportMetric(float64(median(fork).Microseconds())/1e3, "ms/fork-and-wait")
	b.ReportMetric(float64(median(ping).Microseconds())/1e3, "ms/ping")
	b.ReportMetric(float64(median(trip))/float64(median(fork)), "ratio")
	b.ReportMetric(float64(tripCPU)/float64(max(forkCPU, 1)), "cpu-ratio")
}

// BenchmarkParallel compares 16 commands at once with the guest's own time for 16 of the same, which it forks without a
// world around them. They are taken in turn.
func BenchmarkParallel(b *testing.B) {
	const count = 16
	const work = "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done"
	m, w := benchWorld(b)
	var ours, own []time.Duration
	for b.Loop() {
		begin := time.Now()
		var group errgroup.Group
		for range count {
			group.Go(func() error {
				res, err := w.Run(context.Background(), sandbox.Command{Argv: []string{"/bin/sh", "-c", work}}, io.Discard, io.Discard)
				if err == nil && res.ExitCode != 0 {
					err = fmt.Errorf("exit status %d", res.ExitCode)
				}
				return err
			})
		}
		require.NoError(b, group.Wait())
		ours = append(ours, time.Since(begin))
		took, err := m.Measure(context.Background(), guestproto.Ping{Argv: []string{"/image/bin/busybox", "sh", "-c", work}, Count: count}, 0)
		require.NoError(b, err)
		own = append(own, took)
	}
	b.ReportMetric(float64(median(ours).Microseconds())/1e3, "ms/16-commands")
	b.ReportMetric(float64(median(own).Microseconds())/1e3, "ms/guest-alone")
	b.ReportMetric(float64(median(ours))/float64(median(own)), "ratio")
}
