//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// goodRun is what a model does that looks first, errs once, and then works.
var goodRun = []modeltest.Reply{
	doing("ls -l in; head -3 in/data.csv"),
	doing("set -e\nawk -F, nonsense( in/data.csv\n"),
	{Calls: []modeltest.Call{
		call("write_file", map[string]any{"path": "count.sh", "content": "#!/bin/sh\n# it's \"quoted\" and $HOME stays\ntail -n +2 \"$1\" | wc -l | tr -d ' '"}),
		call("write_file", map[string]any{"path": "lib/head.md", "content": "# Report\n\nEND\n"}),
		doing(`set -e
n=$(sh count.sh /workspace/in/data.csv)
mkdir -p out
{ cat lib/head.md; echo "$n rows"; } > out/report.md
echo working
printf '{"rows": %s}\n' "$n"`).Calls[0],
	}},
	{Text: `{"rows": 3}`},
}

// A good run becomes a script that leaves the same files and gives the same result, without a model, and for other input
// what that input gives.
func TestFreeze(t *testing.T) {
	needVM(t)
	b, s := modelProject(t, "anthropic", modeltest.Script(goodRun...), "")
	code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	first := b.ledger()

	code, stdout, stderr := b.run("freeze", "report", "--from", "latest", "-o", "skills/count-rows")
	require.Zero(t, code, stderr)
	require.Equal(t, "skills/count-rows/scripts/run.sh\nskills/count-rows/SKILL.md\n", stdout)
	require.Contains(t, stderr, "3 parts in the script, 2 left in it as comments")
	require.Equal(t, 1, strings.Count(stderr, "warning: review"), stderr)
	require.Contains(t, stderr, "run.sh:10: what it did before it failed is not repeated")
	require.Contains(t, stderr, `- {id: report, skill: count-rows, with: {"data":"${{ inputs.data }}"}}`)
	script, err := os.ReadFile(filepath.Join(b.dir, "skills/count-rows/scripts/run.sh"))
	require.NoError(t, err)
	require.Contains(t, string(script), "only looked around (exit 0):\n#   ls -l in; head -3 in/data.csv\n")
	require.Contains(t, string(script), "failed (exit 2):")
	require.Contains(t, string(script), `n=$(sh count.sh "$JOY_INPUT_DATA")`)
	code, _, stderr = b.run("freeze", "report", "--from", "latest", "-o", "skills/count-rows")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "exists already")
	require.Contains(t, stderr, "--force")

	b.useFrozen("count-rows")
	code, _, stderr = b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	second := b.ledger()
	require.Equal(t, artifactsOf(first), artifactsOf(second))
	require.Equal(t, outputOf(first), outputOf(second))
	require.Empty(t, only(second, "model.requested"))

	require.NoError(t, os.WriteFile(filepath.Join(b.dir, "week 48.csv"), []byte("name,n\na,1\n"), 0o600))
	code, _, stderr = b.run("run", "--jsonl", "--input", "data=@week 48.csv")
	require.Zero(t, code, stderr)
	require.NotEqual(t, outputOf(first), outputOf(b.ledger()), "another file, another result")
	require.Len(t, s.Requests(), len(goodRun), "nobody asked the model again")
}

// useFrozen puts the bundle in the place of the model's and freezes the plan.
func (b *bench) useFrozen(name string) {
	b.t.Helper()
	file := filepath.Join(b.dir, "joy.yaml")
	text, err := os.ReadFile(file)
	require.NoError(b.t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "model:") {
			lines = append(lines, strings.ReplaceAll(line, "csv-report, with", name+", with"))
		}
	}
	out := strings.Replace(strings.Join(lines, ""), "skills/csv-report", "skills/"+name, 1)
	require.NoError(b.t, os.WriteFile(file, []byte(out), 0o600))
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(b.t, code, "%s%s", stdout, stderr)
	code, stdout, stderr = b.run("skill", "check", "skills/"+name)
	require.Zero(b.t, code, "%s%s", stdout, stderr)
}

// artifactsOf are the digests of what a run left, by name.
func artifactsOf(entries []entry) map[string]any {
	list := map[string]any{}
	for _, e := range only(entries, "artifact.stored") {
		list[e.Step+"/"+e.Data["name"].(string)] = e.Data["sha256"]
	}
	return list
}

// outputOf is the digest of the last step's result.
func outputOf(entries []entry) any {
	done := only(entries, "step.finished")
	return done[len(done)-1].Data["output"]
}
