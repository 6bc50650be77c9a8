//go:build linux

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// cluster is a containerd and the joy that has its VMs there: Kata's own where JOY_TEST_KATA is set, else containers that
// only this joy is linked to accept.
type cluster struct {
	*katatest.Containerd
	joy string
	env []string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts containers")
	}
	runtime, door := katatest.Runtime()
	c := &cluster{katatest.Start(t), filepath.Join(t.TempDir(), "joy"), nil}
	built, err := exec.CommandContext(t.Context(), "go", "build", "-o", c.joy,
		"-ldflags", "-X github.com/joystream-ai/joy/internal/sandbox/kata.door="+door, "../cmd/joy").CombinedOutput()
	require.NoError(t, err, "%s", built)

	// The images are the tester's; what an export notes beside them is not.
	from, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	cache := filepath.Join(t.TempDir(), "joy")
	require.NoError(t, os.Mkdir(cache, 0o700))
	for _, name := range []string{"images", "profiles"} {
		require.NoError(t, os.Symlink(filepath.Join(from, name), filepath.Join(cache, name)))
	}
	c.env = []string{
		"XDG_CACHE_HOME=" + filepath.Dir(cache), "JOY_SANDBOX=kata", "JOY_CONTAINERD=" + c.Address, "JOY_KATA_RUNTIME=" + runtime,
	}
	return c
}

// agent is newAgent with its VMs here and the image where docs/kata.md says to put it.
func (c *cluster) agent(t *testing.T, example, profile string) *agent {
	t.Helper()
	a := newAgent(t, c.joy, example, profile)
	a.env = append(a.env, c.env...)
	archive := filepath.Join(c.Dir, profile+".oci.tar")
	if _, err := os.Stat(archive); err != nil {
		a.run("image", "export", profile, "--format", "oci", "-o", archive)
		out, err := exec.CommandContext(t.Context(), "ctr", "-a", c.Address, "-n", "joy", "images", "import", archive).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return a
}

// leftNothing holds that there is nothing for joy gc to do.
func (a *agent) leftNothing() {
	a.t.Helper()
	require.Contains(a.t, a.run("gc", "--json", "--dry-run"), `"runs": []`)
}

// Every example that runs in a VM of joy's own runs in one of Kata's, from the same plan.
func TestExamplesInKata(t *testing.T) {
	c := newCluster(t)
	t.Run("repo-report", func(t *testing.T) {
		a := c.agent(t, "repo-report", "base")
		a.write("shop.tar", string(shop(t)))
		a.run("build", "-q")
		require.Contains(t, a.run("run", "--jsonl", "--input", "repo=@shop.tar"), `"provider":"kata"`)
		a.outcome()
		a.run("ledger", "verify")
		a.leftNothing()
	})
	t.Run("day-sheet", func(t *testing.T) {
		a := c.agent(t, "day-sheet", "base")
		a.installed()
		a.run("build", "-q")
		a.run("run", "-q", "--jsonl", "--input", "date=2026-12-01", "--input", "city=Chicago", "--approve", "office.write_file")
		require.Equal(t, "sheet.md", a.outcome().Steps["sheet"].Output.(map[string]any)["sheet"])
		a.leftNothing()
	})
	t.Run("weekly-report", func(t *testing.T) {
		a := c.agent(t, "weekly-report", "full")
		got := a.report()
		checkSales(t, got.Steps["aggregate"].Output.(map[string]any), orders(t))
		require.EqualValues(t, 3, got.Steps["pdf"].Output.(map[string]any)["pages"])
		a.dropped(got)
		a.leftNothing()
	})
}

const waits = `version: 1
name: waits
image: tiny
skills: [skills/wait]
`

const wait = `---
name: wait
description: Waits.
metadata: {joy.entry: wait.sh}
---
It waits.
`

// waiting is an agent whose one step waits.
func (c *cluster) waiting(t *testing.T) *agent {
	t.Helper()
	a := c.agent(t, "repo-report", "tiny")
	require.NoError(t, os.RemoveAll(a.dir))
	require.NoError(t, os.MkdirAll(filepath.Join(a.dir, "skills/wait"), 0o700))
	a.write("joy.yaml", waits)
	a.write("skills/wait/SKILL.md", wait)
	a.write("skills/wait/wait.sh", "#!/bin/sh\necho up\nsleep 1000\n")
	a.run("build", "-q")
	return a
}

// What keeps a VM from being made ends the run with the code of whose matter it is, and a ledger that is whole.
func TestNoVMInKata(t *testing.T) {
	a := newCluster(t).waiting(t)
	for name, tc := range map[string]struct {
		env, says string
		code      int
	}{
		"containerd is down":         {"JOY_CONTAINERD=" + filepath.Join(a.dir, "none.sock"), "containerd does not answer", 6},
		"the handler is missing":     {"JOY_KATA_RUNTIME=io.containerd.kata-absent.v2", "is not installed", 6},
		"a runtime that makes no VM": {"JOY_KATA_RUNTIME=io.containerd.crun.v2", "share this machine's kernel", 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := *a
			b.t, b.env = t, append(slices.Clone(a.env), tc.env)
			code, _, words := b.try("run", "-q", "--jsonl")
			require.Equal(t, tc.code, code, words)
			require.Contains(t, words, tc.says)
			b.run("ledger", "verify")
			b = *a
			b.leftNothing()
		})
	}
}

// killed begins a run and kills joy under its step.
func (c *cluster) killed(t *testing.T) *agent {
	t.Helper()
	a := c.waiting(t)
	cmd := exec.CommandContext(t.Context(), a.joy, "run", "--jsonl")
	cmd.Dir, cmd.Env = a.dir, a.env
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var seen strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(seen.String(), "command.started"); {
		n, err := out.Read(buf)
		seen.Write(buf[:n])
		require.NoError(t, err, seen.String())
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	return a
}

// A joy that is killed takes the VM with it, for the guest's input ends; joy gc removes the rest, and the ledger is whole as
// far as it goes.
func TestJoyIsKilledInKata(t *testing.T) {
	c := newCluster(t)
	a := c.killed(t)
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	all, err := client.Containers(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	task, err := all[0].Task(t.Context(), nil)
	require.NoError(t, err)
	exit, err := task.Wait(t.Context())
	require.NoError(t, err)
	select {
	case <-exit:
	case <-time.After(time.Minute):
		require.Fail(t, "the guest outlives its joy")
	}

	require.Contains(t, a.run("gc", "--dry-run"), "kata:"+all[0].ID())
	require.Contains(t, a.run("gc"), "kata:"+all[0].ID())
	a.leftNothing()
	all, err = client.Containers(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
	code, _, words := a.try("ledger", "verify")
	require.Equal(t, 7, code, "it has no seal: %s", words)
	require.NotContains(t, words, "broken")
}
