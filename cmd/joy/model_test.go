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

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// wires are the two providers that joy speaks to, each with the server that speaks like it.
var wires = map[string]func(testing.TB, func(int, modeltest.Request) modeltest.Reply) *modeltest.Server{
	"anthropic": modeltest.Anthropic, "openai": modeltest.OpenAI,
}

const modelSkill = `---
name: csv-report
description: Turns a CSV file into a short report. Use when somebody wants to know what is in a table.
metadata: {author: test}
output_schema: {type: object, required: [rows], properties: {rows: {type: integer}}}
---
Count the rows of the CSV file named in the input with a script, and write /workspace/out/report.md.
`

// modelProject is an agent of one instruction skill, on a scripted model.
func modelProject(t *testing.T, provider string, say func(int, modeltest.Request) modeltest.Reply, step string) (*bench, *modeltest.Server) {
	t.Helper()
	s := wires[provider](t, say)
	b := newProject(t, map[string]string{
		"skills/csv-report/SKILL.md": modelSkill,
		"data.csv":                   "name,n\na,1\nb,2\nc,3\n",
		"joy.yaml": fmt.Sprintf(`version: 1
name: csv-report
image: tiny
inputs: {type: object, required: [data], properties: {data: {type: string, format: file}}}
model: {provider: %s, name: test-1, key: "secret:vendor", base_url: %q, max_turns: 8, max_tokens: 5000}
skills: [skills/csv-report]
steps:
  - {id: report, skill: csv-report, with: {data: "${{ inputs.data }}"}%s}
`, provider, s.URL, step),
	})
	b.env = append(b.env, "JOY_SECRET_VENDOR="+modeltest.Key)
	b.allow()
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	return b, s
}

func call(name string, input map[string]any) modeltest.Call {
	b, _ := json.Marshal(input)
	return modeltest.Call{Name: name, Input: string(b)}
}

func doing(text string) modeltest.Reply {
	return modeltest.Reply{Calls: []modeltest.Call{call("run", map[string]any{"script": text})}}
}

func TestModelStepInVM(t *testing.T) {
	needVM(t)
	for provider := range wires {
		t.Run(provider, func(t *testing.T) {
			b, s := modelProject(t, provider, modeltest.Script(
				modeltest.Reply{Text: "I look first.", Calls: []modeltest.Call{
					call("run", map[string]any{"script": "env | sort; cat $JOY_INPUT; seq 1 20000"}),
					call("read_file", map[string]any{"path": "/workspace/in/data.csv"}),
					call("write_file", map[string]any{"path": "count.sh", "content": "tail -n +2 in/data.csv | wc -l"}),
					call("nonsense", map[string]any{}),
				}},
				doing(`set -e
n=$(bash count.sh | tr -d ' ')
mkdir -p out; printf '# Report\n\n%s rows\n' "$n" > out/report.md; tail -1 .output/1.stdout`),
				modeltest.Reply{Text: "There are three rows."},
				modeltest.Reply{Text: "```json\n{\"rows\": 3}\n```"},
			), "")
			code, stdout, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
			require.Zero(t, code, stderr)
			require.Contains(t, stderr, "with your key secret:vendor; at most 8 turns a step, 5000 tokens")
			entries := b.ledger()
			require.Len(t, only(entries, "model.requested"), 4)
			require.Len(t, only(entries, "model.replied"), 4)
			require.Len(t, only(entries, "command.started"), 2)
			require.Len(t, only(entries, "file.written"), 1)
			require.Equal(t, "report.md", only(entries, "artifact.stored")[0].Data["name"])
			b.verifies(0)

			asked := s.Requests()
			second := string(asked[1].Body)
			require.Contains(t, second, "exit status 0")
			require.Contains(t, second, "JOY_RUN_TOKEN=[REDACTED:")
			require.Contains(t, second, "bytes in all: /workspace/.output/1.stdout")
			require.Contains(t, second, `there is no tool \"nonsense\"`)
			require.Contains(t, string(asked[2].Body), "20000", "the whole of a long output can be read in the VM")
			require.Contains(t, string(asked[3].Body), "does not hold")
			for _, place := range append([]string{stdout, stderr, second}, everything(t, b.dir)...) {
				require.NotContains(t, place, modeltest.Key)
			}
		})
	}
}

// everything is the text of every file that joy left in a project.
func everything(t *testing.T, dir string) (list []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(dir, ".joy"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		body, err := os.ReadFile(path)
		list = append(list, string(body))
		return err
	}))
	return list
}

// How a model step fails, whatever the model says of it.
func TestModelStepFails(t *testing.T) {
	needVM(t)
	done := modeltest.Reply{Text: `{"rows": 3}`}
	for name, c := range map[string]struct {
		script []modeltest.Reply
		code   int
		kind   string
		says   string
	}{
		"a failed command is called a success": {[]modeltest.Reply{doing("exit 3"), done}, 1, "agent", "a script that failed: the script exited with status 3"},
		"an answer misses the schema twice":    {[]modeltest.Reply{{Text: "three"}, {Text: `{"rows": "three"}`}}, 1, "agent", "still does not hold"},
		"it never ends":                        {[]modeltest.Reply{doing("true")}, 1, "agent", "no answer in 8 turns"},
		"it spends too much":                   {[]modeltest.Reply{{Calls: doing("true").Calls, In: 3000, Out: 2500}}, 1, "agent", "tokens of 5000"},
		"it declines":                          {[]modeltest.Reply{{Text: "No.", Stop: "content_filter"}}, 1, "agent", "declined"},
		"it is cut off":                        {[]modeltest.Reply{{Text: `{"ro`, Stop: "length"}}, 1, "agent", "cut off"},
		"the provider is down":                 {[]modeltest.Reply{{Status: 400}}, 1, "connection", "answered 400"},
		"no such model":                        {[]modeltest.Reply{{Status: 404}}, 2, "input", "has no model"},
		"the key is refused":                   {[]modeltest.Reply{{Status: 403}}, 4, "connection", "refused the key"},
	} {
		t.Run(name, func(t *testing.T) {
			b, _ := modelProject(t, "openai", modeltest.Script(c.script...), "")
			code, _, stderr := b.run("run", "--jsonl", "--input", "data=@data.csv")
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
			require.Contains(t, stderr, "failure_kind: "+c.kind)
			require.Equal(t, c.kind, b.finish(b.ledger()).Data["failure_kind"])
			b.verifies(0)
			require.NotContains(t, strings.Join(everything(t, b.dir), ""), modeltest.Key)
		})
	}
}
