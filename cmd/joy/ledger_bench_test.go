//go:build linux

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
	for i := range 499_999 {
		seq := add(ledger.CommandStarted, ledger.Data{"bytes": 58, "command": fmt.Sprintf("python3 /workspace/skills/render-report/render.py --part %d", i)})
		add(ledger.CommandFinished, ledger.Data{"of": seq, "exit": 0, "ms": 950, "stdout": stream, "stderr": stream})
	}
	add(ledger.RunFinished, nil)
	require.NoError(b, w.Close())
	require.NoError(b, out.Flush())
	return path
}

// BenchmarkVerifyMillion checks a ledger of a million entries with joy as a person would, which is the built program: the test's
// carries whatever tests link. 6 s on two idle cores are promised, and 100 MB. The processor's time is what other work on the
// machine changes least.
func BenchmarkVerifyMillion(b *testing.B) {
	joy, err := filepath.Abs("../../bin/joy")
	require.NoError(b, err)
	path := million(b)
	var cpu float64
	var rss int64
	n := 0
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), joy, "ledger", "verify", path)
		cmd.Env = append(os.Environ(), "HOME="+b.TempDir())
		out, _ := cmd.CombinedOutput() // it ends with 7, for it is not sealed
		require.Contains(b, string(out), "1000000 hold")
		n++
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
		usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
		require.True(b, ok)
		rss = max(rss, usage.Maxrss)
	}
	b.ReportMetric(cpu/float64(n), "s/cpu")
	b.ReportMetric(float64(rss)/1000, "MB")
	require.LessOrEqual(b, rss, int64(100_000), "kB")
}
