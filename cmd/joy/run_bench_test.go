//go:build linux

package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
)

// BenchmarkRun compares joy run of a plan with one step, a /bin/sh script, on a warm cache with a bare cold start of the
// same VM: from the exec of QEMU to the exit of /bin/true in a full step. The two are taken in turn, and joy is the
// built program.
func BenchmarkRun(b *testing.B) {
	cache := filepath.Join(testerCache(), "joy")
	img, err := image.Latest(cache, "tiny")
	require.NoError(b, err, "run script/test once: it builds the image")
	joy, err := filepath.Abs("../../bin/joy")
	require.NoError(b, err)
	project := newBench(b, map[string]string{
		"joy.yaml":     "version: 1\nname: one\ndescription: One step.\nskills: [one]\nimage: tiny\npolicy: {memory: 512MiB, disk: 1GiB}\n",
		"one/SKILL.md": "---\nname: one\ndescription: Does nothing.\nmetadata:\n  joy.entry: run.bin\n---\n",
		"one/run.bin":  "#!/bin/sh\necho '{}'\n",
	})
	provider := &microvm.Provider{CacheDir: cache, Accel: "tcg"}
	spec := sandbox.Spec{Run: "bench", Image: img.Digest(), Start: "cold", CPUs: 2, Memory: 512 << 20, Disk: 1 << 30}
	var run, cold []time.Duration
	first := exec.CommandContext(b.Context(), joy, "run", "-q") // warms the cache: it leaves a snapshot
	first.Dir, first.Env = project.dir, project.env
	require.NoError(b, first.Run())
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), joy, "run", "-q")
		cmd.Dir, cmd.Env = project.dir, project.env
		begin := time.Now()
		require.NoError(b, cmd.Run())
		run = append(run, time.Since(begin))
		cold = append(cold, coldStart(b, provider, spec))
	}
	slices.Sort(run)
	slices.Sort(cold)
	b.ReportMetric(run[len(run)/2].Seconds(), "s/run")
	b.ReportMetric(cold[len(cold)/2].Seconds(), "s/cold-start")
	b.ReportMetric(float64(run[len(run)/2])/float64(cold[len(cold)/2]), "ratio")
}

func coldStart(b *testing.B, p *microvm.Provider, spec sandbox.Spec) time.Duration {
	ctx := b.Context()
	begin := time.Now()
	sb, err := p.Create(ctx, spec)
	require.NoError(b, err)
	w, err := sb.Open(ctx, sandbox.WorldSpec{ID: "bench", Env: map[string]string{"PATH": "/bin"}, ReadOnly: []string{"skills/one"}})
	require.NoError(b, err)
	_, err = w.Run(ctx, sandbox.Command{Argv: []string{"/bin/true"}}, io.Discard, io.Discard)
	took := time.Since(begin)
	require.NoError(b, err)
	require.NoError(b, sb.Destroy(ctx))
	return took
}
