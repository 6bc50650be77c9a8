//go:build linux

package main

import (
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tracesMark is what one run leaves wherever it can, and the next must not find.
const tracesMark = "left-by-another-run"

// TestNoTraceOfAnotherRun: a run writes to everything that can be written to, and tries the rest; the runs after it find
// nothing of that, and are alike to the byte.
func TestNoTraceOfAnotherRun(t *testing.T) {
	needVM(t)
	b := newBench(t, tree(t, "testdata/traces"))
	results := make([]map[string]string, 3)
	for i, what := range []string{"leave", "look", "look"} {
		code, _, stderr := b.run("run", "--input", "what="+what, "--input", "mark="+tracesMark)
		require.Zero(t, code, "%s", stderr)
		results[i] = b.results(t)
	}
	left, err := strconv.Atoi(strings.TrimSpace(results[0]["left.txt"]))
	require.NoError(t, err)
	require.Greater(t, left, 25, "places in which something was left")
	for _, looked := range results[1:] {
		require.Empty(t, looked["found.txt"])
		require.Equal(t, strings.Join([]string{
			"hostname joy", "zone UTC 00", "locale C.UTF-8", "umask 0022", "home /root", "directory /workspace", "uid 0", "",
		}, "\n"), looked["same.txt"])
	}
	require.NotEqual(t, results[1]["fresh.txt"], results[2]["fresh.txt"], "machine-id and random numbers")
	delete(results[1], "fresh.txt")
	delete(results[2], "fresh.txt")
	require.True(t, maps.Equal(results[1], results[2]), "%v and %v", results[1], results[2])
}

// results are the artifacts of the latest run, and its step's output as the ledger has it.
func (b *bench) results(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	entries := b.ledger()
	for _, e := range only(entries, "artifact.stored") {
		sum := strings.TrimPrefix(e.Data["sha256"].(string), "sha256:")
		body, err := os.ReadFile(filepath.Join(b.dir, ".joy/objects/sha256", sum[:2], sum))
		require.NoError(t, err)
		got[e.Data["name"].(string)] = string(body)
	}
	output := only(entries, "step.finished")[0].Data["output"].(map[string]any)
	got["output"] = output["sha256"].(string)
	return got
}
