//go:build linux

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestManyRuns runs one plan many times at once: a ledger each, and nothing left. JOY_SOAK=1, which script/soak sets,
// takes more runs than a test should. It is not parallel, so nothing else of this package has a VM meanwhile.
func TestManyRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("boots VMs")
	}
	require.NoError(t, tinyImage(), "run script/test, which builds the images")
	runs := 6
	if os.Getenv("JOY_SOAK") != "" {
		runs = 20
	}
	files := waiting()
	files["skills/wait/wait.sh"] = "#!/bin/sh\necho \"$JOY_RUN_TOKEN\" | wc -c > out/n.txt\necho '{}'\n"
	b := newBench(t, files)
	codes := make([]int, runs)
	said := make([]string, runs)
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() { codes[i], _, said[i] = b.run("run") })
	}
	all.Wait()
	for i, code := range codes {
		require.Zero(t, code, "%s", said[i])
	}

	dirs, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(t, err)
	require.Len(t, dirs, runs)
	for _, dir := range dirs {
		code, stdout, stderr := b.run("ledger", "verify", filepath.Base(dir))
		require.Zero(t, code, "%s%s", stdout, stderr)
		created := only(readLedger(t, filepath.Join(dir, "ledger.jsonl")), "sandbox.created")
		require.Len(t, created, 1)
		require.False(t, alive(vmPID(t, created[0])))
		require.Equal(t, []string{"hmac.key", "joy.lock", "ledger.jsonl", "logs", "logs/wait.1.stderr", "logs/wait.1.stdout", "result.json", "seal.note"}, listing(t, dir))
	}
	for _, dir := range []string{"tmp", "runtime", "state/joy/live", "project/.joy/objects/tmp"} {
		require.Empty(t, listing(t, filepath.Join(b.top, dir)), "left in %s", dir)
	}
	code, stdout, _ := b.run("gc", "--dry-run")
	require.Zero(t, code)
	require.Empty(t, stdout)
}

// listing is everything below dir.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." {
			list = append(list, path)
		}
		return err
	}))
	return list
}
