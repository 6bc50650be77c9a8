//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
)

// errands is an agent of actions alone, on the real servers: what one says is handed to another, which writes a file.
func errands(t *testing.T, steps string) (*bench, string) {
	t.Helper()
	drop, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	command := func(argv []string) string {
		text, err := json.Marshal(argv)
		require.NoError(t, err)
		return string(text)
	}
	b := newProject(t, map[string]string{"joy.yaml": fmt.Sprintf(`version: 1
name: errands
image: tiny
inputs: {type: object, required: [n], properties: {n: {type: number}}}
connections:
  everything: {command: %s, unconfined: "a test: Node lies in the checkout"}
  files: {command: %s, unconfined: "a test: it writes into a directory of the test"}
steps:
%s`, command(nodetest.Everything(t)), command(nodetest.Filesystem(t, drop)), strings.ReplaceAll(steps, "DROP", drop))})
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	return b, drop
}

const sumAndDrop = `  - {id: sum, action: everything.get-sum, with: {a: 2, b: "${{ inputs.n }}"}, approve: granted}
  - {id: say, action: everything.echo, with: {message: beside}, approve: granted}
  - {id: drop, action: files.write_file, with: {path: DROP/out.txt, content: "said: ${{ steps.sum.output }}"}}
`

func TestActions(t *testing.T) {
	b, drop := errands(t, sumAndDrop)
	code, stdout, stderr := b.run("run", "--input", "n=3")
	require.Equal(t, 4, code, stderr)
	require.Empty(t, stdout, "nothing of it began")
	require.Contains(t, stderr, "step drop calls files.write_file, which needs approval")
	require.Contains(t, stderr, "joy run --approve files.write_file; or in joy.yaml, on the step: {id: drop, …, approve: granted}")
	require.NoDirExists(t, filepath.Join(b.dir, ".joy", "runs"))

	code, _, stderr = b.run("run", "--input", "n=3", "--approve", "files.writefile")
	require.Equal(t, 2, code, stderr)
	require.Contains(t, stderr, "the plan needs approval for files.write_file")

	code, stdout, stderr = b.run("run", "--input", "n=3", "--approve", "files.write_file")
	require.Zero(t, code, stderr)
	wrote, err := os.ReadFile(filepath.Join(drop, "out.txt"))
	require.NoError(t, err)
	require.Contains(t, string(wrote), "5")
	entries := b.ledger()
	require.Empty(t, only(entries, "sandbox.requested"), "no VM")
	require.Len(t, only(entries, "tool.requested"), 3)
	require.Len(t, only(entries, "tool.returned"), 3)
	require.Contains(t, stdout, "by --approve")
	b.verifies(0)
	_, shown, _ := b.run("ledger", "show")
	require.Regexp(t, `drop +tool requested +files\.write_file  arguments=\d+ B`, shown)
	require.Regexp(t, `drop +approval granted +files\.write_file  \S+@\S+, by --approve`, shown)

	code, stdout, stderr = b.run("simulate", "--input", "n=3")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "files.write_file (at most 1 call, asks for approval)")
	require.Contains(t, stdout, `"content":"said: <steps.sum.output>"`)
	require.NoError(t, os.Remove(filepath.Join(drop, "out.txt")))
	require.NoFileExists(t, filepath.Join(drop, "out.txt"), "a dry run calls nothing")
}

// A server's own failure is the connection's, in its words.
func TestActionFails(t *testing.T) {
	b, _ := errands(t, `  - {id: read, action: files.read_text_file, with: {path: /etc/passwd}, approve: granted}
  - {id: after, action: everything.echo, with: {message: "${{ steps.read.output }}"}, approve: granted}
`)
	code, _, stderr := b.run("run", "--input", "n=1")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stderr, "files.read_text_file failed: Access denied")
	require.Contains(t, stderr, "failure_kind: connection")
	require.NotContains(t, stderr, "root:")
	require.Len(t, only(b.ledger(), "step.skipped"), 1)
}
