//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
)

// leaky is an agent whose scripts write, in pieces that no reader of the project puts together, what looks like a token and
// what is a connection's credential.
func leaky(t *testing.T) map[string]string {
	t.Helper()
	argv, err := json.Marshal(nodetest.Everything(t))
	require.NoError(t, err)
	files := map[string]string{"joy.yaml": fmt.Sprintf(`version: 1
name: leaky
image: tiny
inputs: {type: object, properties: {what: {type: string}, how: {type: string}}}
connections:
  everything: {command: %s, env: {TOKEN: "secret:ci"}, unconfined: "a test: Node lies in the checkout"}
skills: [leak]
policy: {cpus: 1, memory: 512MiB, disk: 512MiB}
steps:
  - {id: leak, skill: leak, with: {what: "${{ inputs.what }}", how: "${{ inputs.how }}"}, tools: [{action: everything.echo}], approve: granted}
  - {id: after, action: everything.echo, with: {message: "${{ steps.leak.output.said }}"}, approve: granted}
allow: [{rule: github-pat, file: out/sample.gz, reason: "a test"}]
`, argv)}
	files["leak/SKILL.md"] = "---\nname: leak\ndescription: Leaks.\nmetadata: {joy.entry: run.sh}\nallowed_tools: [everything.echo]\n---\n"
	files["leak/run.sh"] = `#!/bin/sh
case $JOY_INPUT_WHAT in
shape) it=gh; it=${it}p_A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4E5f6 ;;
credential) it=canary; it=$it-9f1c27d0e4b8a635 ;;
esac
case $JOY_INPUT_HOW in
printed) echo "$it" ;;
file) echo "$it" | gzip > out/a.gz ;;
call) joy-guest call everything.echo --json "{\"message\":\"$it\"}" ;;
all) echo "$it"; echo "$it" > out/a.txt; echo "$it" | gzip > out/a.gz; cp out/a.gz out/sample.gz
	joy-guest call everything.echo --json "{\"message\":\"$it\"}" > out/answer.json ;;
esac
echo "{\"said\":\"$it\"}"
`
	return files
}

// TestLeaks runs scripts in a VM that let out what they should not.
func TestLeaks(t *testing.T) {
	needVM(t)
	b := newProject(t, leaky(t))
	b.env = append(b.env, "JOY_SECRET_CI="+canary)
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)

	t.Run("what looks like a token is replaced, and the run goes on", func(t *testing.T) {
		token := "gh" + "p_" + strings.Repeat("A1b2C3d4E5f6", 3)
		code, stdout, stderr := b.run("run", "--input", "what=shape", "--input", "how=all")
		require.Zero(t, code, "%s%s", stdout, stderr)
		b.nowhere(t, token, stdout+stderr)
		entries := b.ledger()
		require.Equal(t, "[REDACTED:github-pat]\n", b.artifact(entries, "leak", "a.txt"))
		require.NotEmpty(t, b.artifact(entries, "leak", "sample.gz"), "which the plan accepts")
		require.Contains(t, b.artifact(entries, "leak", "answer.json"), "[REDACTED:github-pat]", "scrubbed before the VM had it")
		quarantined := only(entries, "artifact.quarantined")
		require.Len(t, quarantined, 1)
		require.Equal(t, "a.gz", quarantined[0].Data["name"])
		require.Equal(t, "github-pat", quarantined[0].Data["rule"])
	})
	for _, how := range []string{"printed", "file", "call", "result"} {
		t.Run("a credential ends the run: "+how, func(t *testing.T) {
			code, stdout, stderr := b.run("run", "--input", "what=credential", "--input", "how="+how)
			require.Equal(t, 5, code, "%s%s", stdout, stderr)
			require.Contains(t, stderr, "credential is outside the broker")
			b.nowhere(t, canary, stdout+stderr)
			finished := only(b.ledger(), "run.finished")
			require.Len(t, finished, 1)
			require.Equal(t, "policy", finished[0].Data["failure_kind"])
			require.Len(t, only(b.ledger(), "sandbox.destroyed"), 1)
			require.Empty(t, only(b.ledger(), "tool.returned"))
		})
	}
}
