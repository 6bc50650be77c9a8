//go:build linux

package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/nodetest"
)

//go:embed testdata/search.py
var search string

// TestCanariesAreNotInTheVM gives a connection a credential of each kind, has a step use it, and has that step search all
// that it can read: files, environments, and the memory of its processes.
func TestCanariesAreNotInTheVM(t *testing.T) {
	needImage(t, "base")
	argv, err := json.Marshal(nodetest.Everything(t))
	require.NoError(t, err)
	refs, env := sources(t)
	spec := "version: 1\nname: canaries\nimage: base\ninputs: {type: object, properties: {word: {type: string}}}\n" +
		"policy: {cpus: 1, memory: 512MiB, disk: 512MiB}\nskills: ['skills/*']\n" +
		"connections:\n  demo: {command: " + string(argv) + ", unconfined: a test, env: {TOKEN_CI: 'secret:ci'"
	for kind := range refs {
		spec += fmt.Sprintf(", TOKEN_%s: 'secret:%s'", strings.ToUpper(kind), kind)
	}
	spec += "}}\nsteps:\n  - {id: search, skill: search, with: {word: '${{ inputs.word }}'}, tools: [{action: demo.echo}], approve: granted, timeout: 10m}\n"
	b := newProject(t, map[string]string{
		"joy.yaml":               spec,
		"skills/search/SKILL.md": "---\nname: search\ndescription: Looks everywhere.\nmetadata: {joy.entry: run.py}\n---\n",
		"skills/search/run.py":   search,
	})
	b.env = append(b.env, env...)
	b.keepSecrets(refs, env, func(string) string { return "demo" })
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	code, stdout, stderr = b.run("run", "-v", "--input", "word=planted-5f1c9a7e")
	require.Zero(t, code, "%s\n%s", stderr, stdout)

	var report struct {
		Found  map[string][]string `json:"found"`
		Looked map[string]int      `json:"looked"`
		Answer string              `json:"answer"`
		Tools  string              `json:"tools"`
	}
	entries := b.ledger()
	require.NoError(t, json.Unmarshal([]byte(b.artifact(entries, "search", "report.json")), &report))
	require.Equal(t, "Echo: hi\n", report.Answer, "the connection was used")
	require.Contains(t, report.Tools, "demo.echo")
	require.Contains(t, report.Found["planted"], "/workspace/in/input.json", "the search finds what is there")
	for _, kind := range []string{"/environ", "/mem"} {
		require.Contains(t, strings.Join(report.Found["planted"], "\n"), kind)
	}
	require.Empty(t, report.Found["canary"])
	require.Greater(t, report.Looked["files"], 1000, "%v", report.Looked)
	require.Positive(t, report.Looked["memories"])

	require.NotContains(t, stdout+stderr, canaryMark)
	noFile(t, b.top)
	noArgument(t)
}
