//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
	"github.com/joystream-ai/joy/internal/nodetest"
)

// worked is an agent with a step for a model that may call a tool, and a script after it.
func worked(t *testing.T) (*bench, *modeltest.Server) {
	t.Helper()
	s := modeltest.OpenAI(t, modeltest.Script(
		modeltest.Reply{Calls: []modeltest.Call{
			call("run", map[string]any{"script": "set -e\nmkdir -p out; wc -l < in/data.csv > out/lines; cat out/lines"}),
			call("everything__get-sum", map[string]any{"a": 2, "b": 3}),
		}},
		modeltest.Reply{Text: `{"rows": 3}`},
	))
	server, err := json.Marshal(nodetest.Everything(t))
	require.NoError(t, err)
	b := newProject(t, map[string]string{
		"skills/csv-report/SKILL.md": modelSkill,
		"skills/tell/SKILL.md":       "---\nname: tell\ndescription: Tells how many rows there are. Use after a report.\nmetadata: {joy.entry: tell.sh}\n---\nTells.\n",
		"skills/tell/tell.sh":        "#!/bin/bash\nprintf 'rows: %s\\n' \"$JOY_INPUT_ROWS\" > out/told.txt; echo '{\"told\": true}'\n",
		"data.csv":                   "name,n\na,1\nb,2\nc,3\n",
		"joy.yaml": fmt.Sprintf(`version: 1
name: worked
image: tiny
inputs: {type: object, required: [data], properties: {data: {type: string, format: file}}}
model: {provider: openai, name: test-1, key: "secret:vendor", base_url: %q}
skills: [skills/csv-report, skills/tell]
connections:
  everything: {command: %s, unconfined: "a test: Node lies in the checkout"}
steps:
  - {id: report, skill: csv-report, with: {data: "${{ inputs.data }}"}, tools: [{action: everything.get-sum}]}
  - {id: tell, skill: tell, with: {rows: "${{ steps.report.output.rows }}"}}
policy: {approvals: granted}
`, s.URL, server),
	})
	b.env = append(b.env, "JOY_SECRET_VENDOR="+modeltest.Key)
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	return b, s
}

// elsewhere is another machine: nothing of the project, no key, no state.
func elsewhere(t *testing.T, files map[string]string) *bench {
	t.Helper()
	return newProject(t, files)
}

func TestReplay(t *testing.T) {
	needVM(t)
	b, s := worked(t)
	code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	asked := len(s.Requests())

	code, stdout, stderr := b.run("replay", "latest")
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.Equal(t, "same: 2/2 steps, 2/2 artifacts\n", stdout)
	require.Len(t, s.Requests(), asked, "nobody was asked")
	b.verifies(0)

	runs, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(t, err)
	past := filepath.Base(runs[0])
	code, stdout, stderr = b.run("ledger", "export", past, "--format", "replay", "-o", "run.replay")
	require.Zero(t, code, "%s%s", stdout, stderr)
	file, err := os.ReadFile(filepath.Join(b.dir, "run.replay"))
	require.NoError(t, err)
	require.NotContains(t, string(file), modeltest.Key)

	there := elsewhere(t, map[string]string{"run.replay": string(file)})
	for range rounds(10, 50) {
		code, stdout, stderr = there.run("replay", "run.replay", "--json")
		require.Zero(t, code, "%s%s", stdout, stderr)
		require.Regexp(t, `"same": true`, stdout)
	}
	require.Len(t, s.Requests(), asked, "nobody was asked")
	code, stdout, _ = there.run("ledger", "diff", regexp.MustCompile(`"run": "([^"]+)"`).FindStringSubmatch(stdout)[1], "latest")
	require.Zero(t, code, stdout)
}

// What was changed since is found and named.
func TestReplayFindsWhatChanged(t *testing.T) {
	needVM(t)
	b, _ := worked(t)
	code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
	require.Zero(t, code, stderr)
	code, stdout, stderr := b.run("ledger", "export", "--format", "replay", "-o", "run.replay")
	require.Zero(t, code, "%s%s", stdout, stderr)

	b.write("skills/tell/tell.sh", "#!/bin/bash\nprintf 'rows: %s!\\n' \"$JOY_INPUT_ROWS\" > out/told.txt; echo '{\"told\": true}'\n")
	code, stdout, stderr = b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	code, _, stderr = b.run("simulate", "--exercise", "--record", "run.replay")
	require.Zero(t, code, stderr)
	require.Regexp(t, `against run \S+: differs: 1/2 steps, 1/2 artifacts; first: step tell: step: script [0-9a-f]{12}…, and was script [0-9a-f]{12}…`, stderr)

	b.write("skills/csv-report/SKILL.md", modelSkill+"Be quick.\n")
	code, stdout, stderr = b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	code, _, stderr = b.run("simulate", "--exercise", "--record", "run.replay")
	require.Equal(t, 1, code, stderr)
	require.Regexp(t, `step report failed: turn 1 of step report asks something else than on record, from byte \d+ on: .*Be quick`, stderr)
}

// rounds is how often a trial is repeated: fewer in make test than in make soak.
func rounds(test, soak int) int {
	if os.Getenv("JOY_SOAK") != "" {
		return soak
	}
	return test
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, filepath.FromSlash(name)), []byte(text), 0o600))
}
