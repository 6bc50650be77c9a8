//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

// million makes a ledger of a million entries, 435 MB, which goes with the benchmark.
func million(b *testing.B) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "ledger.jsonl")
	f, err := os.Create(path)
	require.NoError(b, err)
	defer f.Close()
	out := bufio.NewWriterSize(f, 1<<20)
	plan := "sha256:" + strings.Repeat("ab", 32)
	w, err := ledger.Memory("20261124-180300-k3fq2a", plan, ledger.Options{Tee: out})
	require.NoError(b, err)
	add := func(typ ledger.Type, data ledger.Data) int64 {
		seq, err := w.Append(typ, "render", data)
		if err != nil {
			b.Fatal(err)
		}
		return seq
	}
	add(ledger.RunStarted, nil)
	stream := ledger.Data{"bytes": 2048, "sha256": plan}
	_, err = w.Append(ledger.StepStarted, "small", ledger.Data{"kind": "script"})
	require.NoError(b, err)
	_, err = w.Append(ledger.StepFinished, "small", ledger.Data{"status": "succeeded"})
	require.NoError(b, err)
	for i := range 499_998 {
		seq := add(ledger.CommandStarted, ledger.Data{"bytes": 58, "command": fmt.Sprintf("python3 /workspace/skills/render-report/render.py --part %d", i)})
		add(ledger.CommandFinished, ledger.Data{"of": seq, "exit": 0, "ms": 950, "stdout": stream, "stderr": stream})
	}
	add(ledger.RunFinished, nil)
	require.NoError(b, w.Close())
	require.NoError(b, out.Flush())
	return path
}

// built runs the built joy on a ledger as a person would, for the test's own program carries whatever tests link. It returns
// what joy printed, the processor's time and the memory that it took (in kB).
func built(b *testing.B, args ...string) (out string, cpu time.Duration, rss int64) {
	b.Helper()
	joy, err := filepath.Abs("../../bin/joy")
	require.NoError(b, err)
	cmd := exec.CommandContext(b.Context(), joy, args...)
	cmd.Env = append(os.Environ(), "HOME="+b.TempDir())
	var last tail
	cmd.Stdout, cmd.Stderr = &last, &last
	cpu, rss = measured(b, cmd) // it ends with 7 where it says that the ledger is not sealed
	return string(last), cpu, rss
}

// measured runs a program and returns the processor's time that it took and its memory at its largest, in kB. What getrusage has of
// memory begins with that of the process which started it (https://man7.org/linux/man-pages/man2/getrusage.2.html), here the
// test's own: the mark that the kernel keeps of the program alone is read while it runs.
func measured(t testing.TB, cmd *exec.Cmd) (cpu time.Duration, rss int64) {
	t.Helper()
	require.NoError(t, cmd.Start())
	ended, most := make(chan struct{}), make(chan int64)
	go func() {
		size := int64(0)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			if now, err := peak(cmd.Process.Pid); err == nil {
				size = max(size, now)
			}
			select {
			case <-ended:
				most <- size
				return
			case <-tick.C:
			}
		}
	}()
	_ = cmd.Wait()
	close(ended)
	rss = <-most
	require.Positive(t, rss)
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), rss
}

// tail keeps the last of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if len(*t) > 1<<20 {
		*t = append((*t)[:0], (*t)[len(*t)-4096:]...)
	}
	return len(p), nil
}

// BenchmarkVerifyMillion checks a ledger of a million entries with joy. 6 s on two idle cores are promised, and 100 MB. The
// processor's time is what other work on the machine changes least.
func BenchmarkVerifyMillion(b *testing.B) {
	path := million(b)
	var cpu time.Duration
	var rss int64
	n := 0
	for b.Loop() {
		out, took, most := built(b, "ledger", "verify", path)
		require.Contains(b, out, "1000000 hold")
		n++
		cpu, rss = cpu+took, max(rss, most)
	}
	b.ReportMetric(cpu.Seconds()/float64(n), "s/cpu")
	b.ReportMetric(float64(rss)/1000, "MB")
	require.LessOrEqual(b, cpu/time.Duration(n), 6*time.Second, "of the processor, so by the clock of an idle machine too")
	require.LessOrEqual(b, rss, int64(100_000), "kB")
}

// BenchmarkShowMillion shows a small step of a ledger of a million entries, and all of it. One second by the clock is promised
// for the step: the ratio is what is left of it. For all of it memory does not grow with the ledger.
func BenchmarkShowMillion(b *testing.B) {
	path := million(b)
	b.Run("step", func(b *testing.B) {
		var cpu time.Duration
		for b.Loop() {
			out, took, _ := built(b, "ledger", "show", "--step", "small", path)
			require.Contains(b, out, "step finished")
			cpu += took
		}
		require.LessOrEqual(b, cpu/time.Duration(b.N), time.Second, "of the processor")
		b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/clock")
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "of-a-second-ratio")
	})
	b.Run("all", func(b *testing.B) {
		var cpu time.Duration
		var rss int64
		for b.Loop() {
			out, took, most := built(b, "ledger", "show", path)
			require.Contains(b, out, "run finished")
			cpu, rss = cpu+took, max(rss, most)
		}
		b.ReportMetric(cpu.Seconds()/float64(b.N), "s/cpu")
		b.ReportMetric(float64(rss)/1000, "MB")
		require.LessOrEqual(b, rss, int64(150_000), "kB")
	})
}
