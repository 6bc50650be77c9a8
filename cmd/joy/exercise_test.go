//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plan of actions is exercised with the answers that joy.yaml names: nothing is started, so nothing has to be trusted.
func TestExerciseFixtures(t *testing.T) {
	b, drop := errands(t, sumAndDrop)
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "testdata"), 0o755))
	b.write("testdata/sum.json", `41`)
	b.write("testdata/echo.json", `{"content": [{"type": "text", "text": "hello"}]}`)
	spec, err := os.ReadFile(filepath.Join(b.dir, "joy.yaml"))
	require.NoError(t, err)
	fixtures := string(spec) + "fixtures:\n  everything.get-sum: testdata/sum.json\n  everything.echo: testdata/echo.json\n"
	b.write("joy.yaml", fixtures)
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	b.env = slices.DeleteFunc(b.env, func(v string) bool { return strings.HasPrefix(v, "JOY_TRUST=") })

	code, _, stderr = b.run("simulate", "--exercise", "--input", "n=3")
	require.Equal(t, 2, code, stderr)
	require.Contains(t, stderr, "step drop calls files.write_file, which has no fixture")
	require.Contains(t, stderr, "fixtures: {files.write_file: testdata/answer.json} in joy.yaml")
	entries := b.ledger()
	require.Equal(t, "exercise", entries[0].Data["trigger"])
	b.verifies(0)

	b.write("joy.yaml", fixtures+"  files.write_file: testdata/echo.json\n")
	code, stdout, stderr = b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	code, _, stderr = b.run("simulate", "--exercise", "--input", "n=3")
	require.Zero(t, code, stderr)
	require.NoFileExists(t, filepath.Join(drop, "out.txt"), "nothing was called")
	require.Len(t, only(b.ledger(), "tool.returned"), 3)
	require.Len(t, only(b.ledger(), "approval.granted"), 1)
}
