//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKilledWhileKeeping kills joy while it makes a snapshot, after its run: the VM that is saved is in the index like any
// other, nothing of it is left, and the next run makes the snapshot.
func TestKilledWhileKeeping(t *testing.T) {
	needVM(t)
	files := waiting()
	files["skills/wait/wait.sh"] = "#!/bin/sh\necho '{}'\n"
	b := newProject(t, files)
	cache := filepath.Join(b.top, "cache", "joy") // no snapshot is in it
	require.NoError(t, os.MkdirAll(cache, 0o700))
	for _, dir := range []string{"images", "profiles"} {
		require.NoError(t, os.Symlink(filepath.Join(testerCache(), "joy", dir), filepath.Join(cache, dir)))
	}
	b.env = append(b.env, "XDG_CACHE_HOME="+filepath.Dir(cache))
	code, _, stderr := b.run("build")
	require.Zero(t, code, "%s", stderr)

	p := b.start("run")
	of := vmPID(t, p.await("sandbox.created"))
	p.await("run.finished")
	maker := 0
	require.Eventually(t, func() bool {
		maker = b.inIndex()
		return maker != 0 && maker != of
	}, patience, 5*time.Millisecond, "the VM that is saved is not in the index")
	require.True(t, alive(maker))
	require.NoError(t, p.cmd.Process.Kill())
	require.Equal(t, -1, p.exitCode())
	require.Eventually(t, func() bool { return !alive(maker) }, patience, 5*time.Millisecond)
	b.verifies(0)

	code, stdout, stderr := b.run("gc")
	require.Zero(t, code, "%s", stderr)
	require.Contains(t, stdout, "cleared")
	code, _, stderr = b.run("run")
	require.Zero(t, code, "%s", stderr)
	kept, err := filepath.Glob(filepath.Join(cache, "snapshots", "*.ram"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.NoFileExists(t, filepath.Join(cache, "snapshots", "making.part"))
	for _, dir := range []string{"tmp", "runtime", "state/joy/live"} {
		require.Empty(t, listing(t, filepath.Join(b.top, dir)), "left in %s", dir)
	}
	require.Equal(t, []string{"lock"}, listing(t, filepath.Join(b.top, "state/joy/vms")))
}

// inIndex is the pid of the one VM in the index of live runs, or 0.
func (b *bench) inIndex() (pid int) {
	files, _ := filepath.Glob(filepath.Join(b.top, "state/joy/live/*.json"))
	for _, file := range files {
		var live struct {
			VM []string `json:"vm"`
		}
		body, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(body, &live) == nil && len(live.VM) == 1 {
			_, _ = fmt.Sscanf(live.VM[0], "qemu:%d:", &pid)
		}
	}
	return pid
}
