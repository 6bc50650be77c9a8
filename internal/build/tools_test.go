package build

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

const (
	drive = "connections: {drive: {command: [./bin/drive, --config=conf/a.toml, data], env: {DRIVE_TOKEN: 'secret:drive'}}}\n"
	files = "-- bin/drive --\n#!/bin/sh\n-- conf/a.toml --\nx = 1\n-- data/x --\n"
	drop  = "steps: [{id: drop, action: drive.upload, with: {path: a.txt}}]\n"

	upload = `{"name":"upload","inputSchema":{"type":"object","required":["path"],"additionalProperties":false,
	  "properties":{"path":{"type":"string"},"size":{"type":"integer","maximum":9007199254740993},"to":{"enum":["a","b"]}}}}`
	list = `{"name":"list","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`
)

// asked counts what a build asks for.
type asked struct {
	names  []string
	offers map[string][]string // definitions, by connection
	err    error
}

func (a *asked) ask(_ context.Context, spec *agent.Spec, names []string) (map[string]Offer, error) {
	a.names = append(a.names, names...)
	out := map[string]Offer{}
	for _, name := range names {
		if _, ok := spec.Connections[name]; !ok {
			return nil, errors.New("asked for " + name)
		}
		o := Offer{Server: &plan.Server{Name: "drive-server", Version: "1"}, Definitions: map[string]json.RawMessage{}}
		for _, d := range a.offers[name] {
			var head struct{ Name string }
			_ = json.Unmarshal([]byte(d), &head)
			o.Definitions[head.Name] = json.RawMessage(d)
		}
		out[name] = o
	}
	return out, a.err
}

func offering(definitions ...string) *asked {
	return &asked{offers: map[string][]string{"drive": definitions}}
}

func driven(spec string) fstest.MapFS { return project(both+spec, files, advice, count) }

func pinTools(t *testing.T, fsys fstest.MapFS, old *plan.Plan, a *asked) *Result {
	t.Helper()
	res, err := Build(context.Background(), Options{FS: fsys, Old: old, Ask: a.ask})
	require.NoError(t, err)
	return res
}

func TestToolsArePinnedOnce(t *testing.T) {
	a := offering(upload, list)
	fsys := driven(drive + drop)
	res := pinTools(t, fsys, nil, a)
	require.Equal(t, []string{"drive"}, a.names)
	c := res.Plan.Connections["drive"]
	require.Equal(t, plan.Stdio, c.Transport)
	require.Equal(t, []string{"DRIVE_TOKEN"}, c.Env)
	require.Equal(t, map[string]string{"DRIVE_TOKEN": "secret:drive"}, c.Secrets)
	require.Equal(t, &plan.Server{Name: "drive-server", Version: "1"}, c.Server)
	require.Len(t, c.Files, 2, "a directory is what the server works on")
	require.Equal(t, "bin/drive", c.Files[0].Path)
	require.Equal(t, "0755", c.Files[0].Mode)
	require.Equal(t, "conf/a.toml", c.Files[1].Path)
	require.Len(t, c.Tools, 1, "only what a step is granted")
	require.Contains(t, string(c.Tools["upload"].Definition), "9007199254740993")
	require.Contains(t, strings.Join(res.Notes, "\n"), "step drop: a person is asked before drive.upload; to grant it, in joy.yaml: {id: drop, …, approve: granted}")

	// The second build asks nobody, whatever the server says by then, and writes the same.
	b := offering(list)
	again := pinTools(t, fsys, res.Plan, b)
	require.Empty(t, b.names)
	require.Equal(t, string(res.Lock), string(again.Lock))
	rep, err := Check(context.Background(), res.Lock, LockName, Options{FS: fsys})
	require.NoError(t, err)
	require.Empty(t, rep.Changes)
	require.Equal(t, 1, rep.Outside)
}

func TestWhatMakesABuildAskAgain(t *testing.T) {
	first := pinTools(t, driven(drive+drop), nil, offering(upload, list)).Plan
	for name, tc := range map[string]struct {
		fsys fstest.MapFS
		asks bool
	}{
		"another step":     {driven(drive + strings.Replace(drop, "a.txt", "b.txt", 1)), false},
		"confinement":      {driven(strings.Replace(drive, "env:", "unconfined: reads my mail, env:", 1) + drop), false},
		"another secret":   {driven(strings.Replace(drive, "secret:drive", "secret:other", 1) + drop), false},
		"another argument": {driven(strings.Replace(drive, "data]", "other]", 1) + drop), true},
		"another variable": {driven(strings.Replace(drive, "DRIVE_TOKEN", "OTHER", 1) + drop), true},
		"another address":  {driven("connections: {drive: {url: 'https://a.com/mcp', bearer: 'secret:drive'}}\n" + drop), true},
		"another program":  {project(both+drive+drop, strings.Replace(files, "#!/bin/sh", "#!/bin/bash", 1), advice, count), true},
		"another tool":     {driven(drive + strings.Replace(drop, "}}]", "}}, {id: l, action: drive.list}]", 1)), true},
	} {
		a := offering(upload, list)
		res := pinTools(t, tc.fsys, first, a)
		require.Equal(t, tc.asks, len(a.names) == 1, name)
		require.Equal(t, first.Connections["drive"].Tools["upload"], res.Plan.Connections["drive"].Tools["upload"], name)

		// A comparison asks nobody and finds the difference.
		lock, err := plan.Encode(first)
		require.NoError(t, err)
		rep, err := Check(context.Background(), lock, LockName, Options{FS: tc.fsys})
		require.NoError(t, err, name)
		require.NotEmpty(t, rep.Changes, name)
	}
}

// A pin that is kept is not replaced in passing: the difference is told.
func TestAKeptPinStays(t *testing.T) {
	first := pinTools(t, driven(drive+drop), nil, offering(upload, list)).Plan
	both := driven(drive + strings.Replace(drop, "}}]", "}}, {id: l, action: drive.list}]", 1))
	res := pinTools(t, both, first, offering(strings.Replace(upload, `"a","b"`, `"a"`, 1), list))
	require.Equal(t, first.Connections["drive"].Tools["upload"], res.Plan.Connections["drive"].Tools["upload"])
	require.Contains(t, strings.Join(res.Notes, "\n"), "drive.upload is not any more what is pinned, which is kept: joy build --update tools")
	require.NotContains(t, strings.Join(res.Notes, "\n"), "before drive.list", "it says that it changes nothing")
}

func TestAPlanWithoutPinsHasNoLock(t *testing.T) {
	res := build(t, driven(drive+drop))
	require.Nil(t, res.Lock)
	require.Equal(t, []string{"drive.upload"}, res.Unpinned)
	require.Contains(t, strings.Join(res.Notes, "\n"), "not pinned yet: drive.upload")
}

// Nothing is started for a joy.yaml that has to be mended.
func TestMistakesComeBeforeServers(t *testing.T) {
	for _, spec := range []string{
		drive + "steps: [{id: drop, action: drive.upload, needs: [gone]}]\n",
		drive + "steps: [{id: drop, action: drive.upload}, {id: x, action: web.search}]\n",
		"connections: {drive: {command: [npx, -y, server]}}\n" + drop,
	} {
		a := offering(upload)
		_, err := Build(context.Background(), Options{FS: driven(spec), Ask: a.ask})
		require.Error(t, err)
		require.Empty(t, a.names, spec)
	}
	a := offering(upload)
	spec := "connections: {drive: {command: [npx, -y, server]}}\nallow: [{rule: JOY-UNPINNED, file: joy.yaml, reason: r}]\n" + drop
	pinTools(t, driven(spec), nil, a)
	require.Len(t, a.names, 1)
}

func TestToolsThatDoNotFit(t *testing.T) {
	call := func(with string) string { return "steps: [{id: drop, action: drive.upload, with: " + with + "}]\n" }
	grant := func(with string) string {
		return "steps: [{id: x, skill: advice, tools: [{action: drive.upload, with: " + with + "}]}]\n"
	}
	flow := "inputs: {properties: {n: {type: integer}}}\n"
	for name, tc := range map[string]struct{ spec, offer, want, hint string }{
		"unknown tool":      {strings.Replace(drop, "upload", "uplaod", 1), upload, `no tool "uplaod"`, "did you mean upload? it has list, upload"},
		"no tool at all":    {strings.Replace(drop, "upload", "zzzzzzzz", 1), upload, `no tool "zzzzzzzz"`, "it has list, upload"},
		"required":          {call("{size: 1}"), upload, `the tool drive.upload requires the input "path"`, "with: {path: …}"},
		"no such argument":  {call("{path: a, pth: b}"), upload, "pth", ""},
		"reference to none": {flow + call("{path: a, pth: '${{ inputs.n }}'}"), upload, `takes no input "pth"`, "did you mean path?"},
		"type":              {call("{path: 1}"), upload, "path", ""},
		"too large":         {call("{path: a, size: 9007199254740994}"), upload, "", ""},
		"not of the enum":   {call("{path: a, to: c}"), upload, "to", ""},
		"type of an input":  {flow + call("{path: '${{ inputs.n }}'}"), upload, "inputs.n is integer, and the tool's inputSchema takes string here", ""},
		"fixed unknown":     {grant("{pth: a}"), upload, `drive.upload has no argument "pth" to fix`, "did you mean path?"},
		"fixed type":        {grant("{path: 1}"), upload, "does not take what the grant fixes", ""},
		"fixed reference":   {grant("{path: '${{ inputs.n }}'}"), upload, "fixes constants, not references", ""},
		"fixed of a union":  {grant("{path: a}"), strings.Replace(upload, `"required"`, `"anyOf":[{}],"required"`, 1), "cannot be taken out of a schema with anyOf", "a step of its own"},
		"no schema":         {drop, `{"name":"upload","inputSchema":{"type":"strin"}}`, "its inputSchema is not a JSON Schema", "mend its definition"},
		"remote schema":     {drop, `{"name":"upload","inputSchema":{"$ref":"https://a.com/s"}}`, "leads out of the schema", ""},
		"too deep":          {drop, `{"name":"upload","x":` + strings.Repeat("[", 125) + strings.Repeat("]", 125) + `}`, "cannot be pinned", ""},
	} {
		_, err := Build(context.Background(), Options{FS: driven(drive + tc.spec), Ask: offering(tc.offer, list).ask})
		require.Error(t, err, name)
		f := fault.All(err)[0]
		require.ErrorContains(t, f, tc.want, name)
		require.Contains(t, f.Hint, tc.hint, name)
		require.NotZero(t, f.Line, name)
	}
}

// What a command names in the project is pinned, wherever it stands in it; what only looks like a file is not.
func TestFilesOfACommand(t *testing.T) {
	dir := onDisk(t, driven("connections: {drive: {command: [node, conf/../bin/drive, --config=./conf/a.toml, data, link, node, joy.lock, 'a b', /etc/passwd, ../x]}}\n"+drop))
	require.NoError(t, os.Symlink("data", filepath.Join(dir, "link")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "joy.lock"), nil, 0o600))
	res, err := Build(context.Background(), Options{Dir: dir, Ask: offering(upload).ask})
	require.NoError(t, err)
	var paths []string
	for _, f := range res.Plan.Connections["drive"].Files {
		paths = append(paths, f.Mode+" "+f.Path)
	}
	require.Equal(t, []string{"0644 bin/drive", "0644 conf/a.toml"}, paths)

	for _, to := range []string{"bin/drive", "/bin/sh", "nowhere"} {
		require.NoError(t, os.Remove(filepath.Join(dir, "link")))
		require.NoError(t, os.Symlink(to, filepath.Join(dir, "link")))
		_, err = Build(context.Background(), Options{Dir: dir, Ask: offering(upload).ask})
		require.ErrorContains(t, err, "link is reached by a link", to)
	}
}

// The names of tools are the servers' own: only the first dot parts them from the connection.
func TestNamesOfTools(t *testing.T) {
	fsys := driven(drive + "steps: [{id: x, skill: advice, tools: [{action: drive.a.b}, {action: drive.a__b}, {action: drive.a/b}, {action: drive.a_b}]}]\n")
	res := pinTools(t, fsys, nil, offering(`{"name":"a.b"}`, `{"name":"a__b"}`, `{"name":"a/b"}`, `{"name":"a_b"}`, `{"name":"b"}`))
	require.Equal(t, []string{"a.b", "a/b", "a__b", "a_b"}, slices.Sorted(maps.Keys(res.Plan.Connections["drive"].Tools)))

	many := []string{`{"name":"\u001b[2J"}`}
	for i := range 50 {
		many = append(many, strings.Replace(`{"name":"tool-00"}`, "00", string(rune('A'+i/10))+string(rune('0'+i%10)), 1))
	}
	_, err := Build(context.Background(), Options{FS: driven(drive + drop), Ask: offering(many...).ask})
	require.Contains(t, fault.All(err)[0].Hint, "and 21 more")
	require.NotContains(t, fault.All(err)[0].Hint, "\x1b")
}

func TestServersThatFail(t *testing.T) {
	a := offering(upload)
	a.err = fault.New(fault.Connection, "connection drive: no answer within 10s")
	_, err := Build(context.Background(), Options{FS: driven(drive + drop), Ask: a.ask})
	require.ErrorContains(t, err, "no answer within 10s")
	require.Equal(t, fault.Connection, fault.KindOf(err))
}

// A grant meets a need also where the bundle calls the service by another name than the author did.
func TestNeedsThatAToolMeets(t *testing.T) {
	const body = "Call mcp__linear__create_issue with the title, then mcp__linear__list_issues.\n"
	for name, tc := range map[string]struct {
		spec string
		met  bool
	}{
		"by its name":        {"connections: {linear: {url: 'https://a.com'}}\nsteps: [{id: s, skill: s, tools: [{action: linear.list}]}]\n", true},
		"by its address":     {"connections: {drive: {url: 'https://mcp.linear.app/mcp'}}\nsteps: [{id: s, skill: s, tools: [{action: drive.list}]}]\n", true},
		"by its package":     {"connections: {drive: {command: [npx, -y, '@acme/server-linear@1.2.3']}}\nsteps: [{id: s, skill: s, tools: [{action: drive.list}]}]\n", true},
		"only part of it":    {"connections: {drive: {url: 'https://nonlinear.app'}}\nsteps: [{id: s, skill: s, tools: [{action: drive.list}]}]\n", false},
		"of another service": {"connections: {drive: {url: 'https://a.com'}}\nsteps: [{id: s, skill: s, tools: [{action: drive.list}]}]\n", false},
		"declared alone":     {"connections: {linear: {url: 'https://a.com'}}\n", false},
	} {
		fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: [s]\n"+tc.spec, "-- s/SKILL.md --\n---\nname: s\ndescription: d\n---\n"+body)
		a := offering(list)
		a.offers["linear"] = []string{list}
		found := ""
		for _, f := range pinTools(t, fsys, nil, a).Findings {
			if f.Rule == RuleNeed {
				found += f.Message + "\n"
			}
		}
		require.Equal(t, tc.met, !strings.Contains(found, "MCP server linear"), "%s: %s", name, found)
	}
}
