package build

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// advice and count are the two kinds of bundle: one for a model and one with an entry point.
const (
	advice = `
-- skills/advice/SKILL.md --
---
name: advice
description: Answers in one sentence.
---
Answer kindly.
`
	count = `
-- skills/count/SKILL.md --
---
name: count
description: Counts words.
metadata: {joy.entry: scripts/count.py}
input_schema: {type: object, properties: {text: {type: string}}}
---
Counts.
-- skills/count/scripts/count.py --
print("{}")
`
	both = "-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/advice, skills/count]\n"
)

// project makes a file system of txtar texts.
func project(parts ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for _, f := range txtar.Parse([]byte(strings.Join(parts, "\n"))).Files {
		fsys[f.Name] = &fstest.MapFile{Data: f.Data, Mode: 0o644}
	}
	return fsys
}

func build(t testing.TB, fsys fs.FS) *Result {
	t.Helper()
	res, err := Build(context.Background(), Options{FS: fsys})
	require.NoError(t, err)
	return res
}

func step(t *testing.T, p *plan.Plan, id string) plan.Step {
	t.Helper()
	s, ok := p.Step(id)
	require.True(t, ok, id)
	return s
}

// Every text is appended to a joy.yaml that ends in line 4; the place is where joy points.
func TestMistakes(t *testing.T) {
	for _, tc := range []struct{ add, place, want, hint string }{
		{"steps: [{id: x, skill: advise}]", "joy.yaml:4:24", `no skill "advise"`, "did you mean advice?"},
		{"steps: [{id: x, skill: advice, needs: [y]}]", "joy.yaml:4:40", `"y", which is no step`, "known here: x"},
		{"steps: [{id: x, skill: advice, needs: [x]}]", "joy.yaml:4:40", "needs itself", ""},
		{"steps: [{id: x, skill: advice, needs: [setup]}]", "joy.yaml:4:40", "needs setup", ""},
		{"steps: [{id: x, skill: advice, with: {a: 'é ${{ steps.x.output }}'}}]", "joy.yaml:4:45", "refers to itself", ""},
		{"steps: [{id: x, skill: advice, with: {a: '${{ steps.gone.output }}'}}]", "joy.yaml:4:43", `"gone", which is no step`, "known"},
		{"steps: [{id: x, skill: advice, with: {a: '${{ steps.x }}'}}]", "joy.yaml:4:54", "expected .output", "literal"},
		{"steps: [{id: x, skill: advice, with: {a: '${{ inputs.n }}'}}]", "joy.yaml:4:43", "no inputs are declared", "inputs:"},
		{"inputs: {properties: {text: {}}}\nsteps: [{id: x, skill: advice, with: {a: '${{ inputs.txt }}'}}]", "joy.yaml:5:43", `no input "txt"`, "did you mean text?"},
		{"inputs: {properties: {text: {}}}\nsteps: [{id: x, skill: advice, with: {a: '${{ inputs[0] }}'}}]", "joy.yaml:5:43", "not a list", ""},
		{"steps: [{id: x, skill: advice, needs: [y]}, {id: y, skill: advice, with: {a: '${{ steps.x.output }}'}}]", "joy.yaml:4:9", "x → y → x", "before it"},
		{"steps: [{id: x, skill: count, sandbox: {required: false, reason: fast}}]", "joy.yaml:4:40", "cannot do without a sandbox", "never runs"},
		{"steps: [{id: x, skill: advice, with: {a-b: 1, A_b: 2}}]", "joy.yaml:4:38", "both JOY_INPUT_A_B", "rename"},
		{"inputs: {type: strin}", "joy.yaml:4:9", "inputs is not a JSON Schema", ""},
		{"inputs: {type: array}", "joy.yaml:4:9", "describes no object", "type: object"},
		{"inputs: {properties: {a: {$ref: 'https://example.com/s.json'}}}", "joy.yaml:4:9", "leads out of the schema", ""},
		{"setup: {run: setup.sh}", "joy.yaml:4:14", "setup.sh is not there", ""},
		{"setup: {run: count/setup}\n-- count/setup --\ntrue", "joy.yaml:4:14", "no shebang", "begin the file with"},
		{"setup: {run: count/setup}\n-- count/setup --\n#!sh", "joy.yaml:4:14", "by its full path", ""},
		{"steps: [{id: setup, skill: advice}]", "joy.yaml:4:14", "belongs to setup", "another id"},
		{"steps: [{id: x, action: drive.upload}]", "joy.yaml:4:25", `no connection "drive"`, ""},
		{"connections: {drive: {url: 'https://a.com'}}\nsteps: [{id: x, action: drvie.upload}]", "joy.yaml:5:25", `no connection "drvie"`, "did you mean drive?"},
		{"connections: {drive: {url: 'https://a.com'}}\nsteps: [{id: x, action: upload}]", "joy.yaml:5:25", "it is connection.tool", "drive.upload"},
		{"connections: {drive: {command: [./bin/drive]}}\nsteps: [{id: x, action: drive.upload}]", "joy.yaml:4:15", "there is no file ./bin/drive", "connections.drive.command"},
		{"connections: {drive: {command: [npx, -y, server-x]}}\nsteps: [{id: x, action: drive.upload}]", "joy.yaml:4", "write npx -y server-x@1.2.3", "allow: [{rule: JOY-UNPINNED, file: joy.yaml"},
		{"fixtures: {drive.list: a.json}", "joy.yaml:4:24", `no connection "drive"`, ""},
		{"connections: {drive: {url: 'https://a.com'}}\nfixtures: {drive.list: a.json}", "joy.yaml:5:24", "no file a.json", ""},
		{"steps: [{id: x, skill: advice, tools: [{action: drive.up, with: {a: '${{ inputs }}'}}]}]", "joy.yaml:4:49", "no connection", ""},
	} {
		_, err := Build(context.Background(), Options{FS: project(both+tc.add+"\n", advice, count)})
		require.Error(t, err, tc.add)
		f := fault.All(err)[0]
		require.ErrorContains(t, f, tc.want)
		require.Equal(t, tc.place, f.Place(), tc.add)
		require.Contains(t, f.Hint, tc.hint, tc.add)
		require.Equal(t, fault.Input, f.Kind)
	}
}

func TestMistakesInFiles(t *testing.T) {
	for name, tc := range map[string]struct{ files, want string }{
		"nothing here":   {"-- README.md --\n", "neither a joy.yaml nor a SKILL.md"},
		"broken spec":    {"-- joy.yaml --\nversion: 1\n", "needs name"},
		"no such skill":  {"-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/advce]\n" + advice, "no directory skills/advce"},
		"no SKILL.md":    {"-- joy.yaml --\nversion: 1\nname: a\nskills: [x]\n-- x/y --\n", "no SKILL.md"},
		"empty glob":     {"-- joy.yaml --\nversion: 1\nname: a\nskills: [tools/*]\n" + advice, "matches no directory"},
		"bad glob":       {"-- joy.yaml --\nversion: 1\nname: a\nskills: ['[']\n" + advice, "not a glob"},
		"two of a name":  {"-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/advice, x]\n-- x/SKILL.md --\n---\nname: advice\ndescription: d\n---\n" + advice, "skills/advice and x"},
		"remote schema":  {both + strings.Replace(count, "properties: {text: {type: string}}", "$ref: 'http://a.com/x'", 1) + advice, "input_schema is not a JSON Schema"},
		"entry is gone":  {both + strings.Replace(count, "joy.entry: scripts/count.py", "joy.entry: scripts/x.py", 1) + advice, "not a file of the bundle"},
		"same step ids":  {"-- joy.yaml --\nversion: 1\nname: a\nskills: ['*']\n-- a_b/SKILL.md --\n---\nname: a_b\ndescription: d\n---\n-- a-b/SKILL.md --\n---\nname: a-b\ndescription: d\n---\n", "same step id"},
		"bundle too bad": {"-- SKILL.md --\nno front matter\n", "front matter"},
	} {
		_, err := Build(context.Background(), Options{FS: project(tc.files)})
		require.ErrorContains(t, err, tc.want, name)
		require.Equal(t, fault.Input, fault.KindOf(err), name)
	}
}

// A lock that could not be read again must not be written: the limit is told with its place, as a mistake in joy.yaml.
func TestTooManySteps(t *testing.T) {
	var steps strings.Builder
	for i := range plan.MaxSteps + 1 {
		fmt.Fprintf(&steps, "  - {id: s%d, skill: advice}\n", i)
	}
	_, err := Build(context.Background(), Options{FS: project(both+"steps:\n"+steps.String(), advice, count)})
	require.ErrorContains(t, err, "2001 steps are more than the 2000 a plan can have")
	require.Equal(t, fault.Input, fault.KindOf(err))
	require.Equal(t, "joy.yaml:2005:5", fault.All(err)[0].Place())
}

func TestImpliedSteps(t *testing.T) {
	p := build(t, project(both+"inputs: {type: object, properties: {text: {type: string}, 'odd key': {}}}\n", advice, count)).Plan
	require.Len(t, p.Steps, 2)
	require.Equal(t, plan.Prompt, p.Steps[0].Kind)
	require.JSONEq(t, `{"odd key":"${{ inputs['odd key'] }}","text":"${{ inputs.text }}"}`, string(p.Steps[0].With))

	c := step(t, p, "count")
	require.Equal(t, plan.Script, c.Kind)
	require.Equal(t, &plan.Entry{Path: "scripts/count.py", Argv: []string{"python3"}}, c.Entry)
	require.True(t, c.NeedsVM())
	require.NotEmpty(t, c.Sandbox.Evidence)
	require.JSONEq(t, `{"text":"${{ inputs.text }}"}`, string(c.With), "only what the skill's schema knows")
	require.Empty(t, c.Needs)
	require.Nil(t, p.Model)
}

func TestDeclaredSteps(t *testing.T) {
	res := build(t, project(both+`policy: {egress: [b.example.com, a.example.com]}
connections: {idle: {command: [x]}}
setup: {run: scripts/setup.sh}
steps:
  - {id: one, skill: count, egress: [a.example.com], timeout: 1m}
  - {id: two, skill: count}
  - id: three
    skill: advice
    needs: [two]
    with: {n: "${{ steps.one.output.n }}", f: "${{ steps.one.artifacts['x'] }}"}
    sandbox: {required: true, reason: it checks with pandoc}
-- scripts/setup.sh --
echo hi
`, advice, count))
	p := res.Plan
	require.Equal(t, []string{"a.example.com"}, step(t, p, "one").Egress)
	require.Equal(t, []string{"a.example.com", "b.example.com"}, step(t, p, "two").Egress)
	require.Equal(t, "1m", step(t, p, "one").Timeout.String())
	require.Equal(t, p.Policy.Timeout, step(t, p, "two").Timeout)
	three := step(t, p, "three")
	require.Equal(t, []string{"one", "two"}, three.Needs)
	require.False(t, three.Sandbox.Required)
	require.True(t, three.NeedsVM(), "the author's word counts, and both are kept")
	require.Equal(t, "0755", p.Setup.Run.Mode)
	require.Equal(t, []string{"bash"}, p.Setup.Argv)
	require.Equal(t, [][]string{{"one", "two"}, {"three"}}, plan.Waves(p))
	require.Contains(t, res.Notes[0], "connection idle")
}

func TestStepsWithoutAVMReachNothing(t *testing.T) {
	p := build(t, project(both+"policy: {egress: [a.example.com]}\n", advice, count)).Plan
	require.Empty(t, step(t, p, "advice").Egress)
	require.Equal(t, []string{"a.example.com"}, step(t, p, "count").Egress)
}

func TestSingleBundle(t *testing.T) {
	at := func(bundle string) string { return strings.ReplaceAll(bundle, "-- skills/", "-- ") }
	sub, err := fs.Sub(project(at(advice), at(count)), "advice")
	require.NoError(t, err)
	p := build(t, sub).Plan
	require.Equal(t, "advice", p.Agent.Name)
	require.Equal(t, plan.File{}, p.Agent.Spec)
	require.Equal(t, ".", p.Skills[0].Path)
	require.JSONEq(t, `{"task":"${{ inputs.task }}"}`, string(p.Steps[0].With))
	require.Contains(t, string(p.Inputs), `"required":["task"]`)

	sub, err = fs.Sub(project(at(count)), "count")
	require.NoError(t, err)
	p = build(t, sub).Plan
	require.JSONEq(t, `{"text":"${{ inputs.text }}"}`, string(p.Steps[0].With))
}

func TestGlobs(t *testing.T) {
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: [skills/count, 'skills/*']\n-- skills/README.md --\n-- skills/empty/x --\n"+
		"-- skills/.hidden/SKILL.md --\n---\nname: hidden\ndescription: d\n---\n", advice, count)
	var names []string
	for _, s := range build(t, fsys).Plan.Skills {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"count", "advice"}, names)
}
