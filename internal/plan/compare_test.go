package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	for want, change := range map[string]func(p *Plan){
		"~ rules: 1 → 2":                                      func(p *Plan) { p.Rules = 2 },
		"~ agent.name: weekly → daily":                        func(p *Plan) { p.Agent.Name = "daily" },
		"~ policy.memory: 2GiB → 512MiB":                      func(p *Plan) { p.Policy.Memory = 512 << 20 },
		"+ policy.egress: a.com":                              func(p *Plan) { p.Policy.Egress = []string{"a.com"} },
		"~ model.max_turns: 20 → 3":                           func(p *Plan) { p.Model.MaxTurns = 3 },
		"~ setup.timeout: 1m → 2m":                            func(p *Plan) { p.Setup.Timeout *= 2 },
		"- skill tell: skills/tell, 1 files":                  func(p *Plan) { p.Skills = p.Skills[:1] },
		"~ order of skills: count, tell → tell, co":           func(p *Plan) { p.Skills = []Skill{p.Skills[1], p.Skills[0]} },
		"~ skill count.path: skills/count → x":                func(p *Plan) { p.Skills[0].Path = "x" },
		"- skill count: file scripts/count.py: 075":           func(p *Plan) { p.Skills[0].Files = p.Skills[0].Files[:1] },
		"~ skill count: file SKILL.md: 0644 3 byte":           func(p *Plan) { p.Skills[0].Files[0].SHA256 = "aa" },
		"~ connection drive.url: https://mcp.examp":           func(p *Plan) { c := p.Connections["drive"]; c.URL = "x"; p.Connections["drive"] = c },
		"- connection drive: http https://mcp":                func(p *Plan) { p.Connections = nil },
		"~ image.profile: base → full":                        func(p *Plan) { p.Image.Profile = "full" },
		"- allow JOY-CURL-SH in skills/tell/SKILL.md: pinned": func(p *Plan) { p.Allow = nil },
		"+ step x: action drive.upload":                       func(p *Plan) { p.Steps = append(p.Steps, Step{ID: "x", Kind: Action, Action: "drive.upload"}) },
		"- step tell.needs: count":                            func(p *Plan) { p.Steps[1].Needs = nil },
		"~ step count.sandbox: sandbox; JOY-ENTRY ":           func(p *Plan) { p.Steps[0].Sandbox.Evidence[0].Line = 5 },
	} {
		p := sample(t)
		change(p)
		got := Compare(sample(t), p)
		require.Len(t, got, 1, want)
		require.Contains(t, got[0].String(), want)
	}
}

func TestCompareIsEmptyForEqualPlans(t *testing.T) {
	a, b := sample(t), sample(t)
	b.Skills[0].Findings = []Finding{}
	b.Inputs = []byte("{\n\"type\":\"object\"}")
	require.Empty(t, Compare(a, b))
}

func TestCompareNamesTheFile(t *testing.T) {
	for file, change := range map[string]func(p *Plan){
		"joy.yaml":                      func(p *Plan) { p.Agent.Spec.Size++ },
		"scripts/setup.sh":              func(p *Plan) { p.Setup.Run.SHA256 = "aa" },
		"skills/count/scripts/count.py": func(p *Plan) { p.Skills[0].Files[1].Mode = "0644" },
		"skills/tell/SKILL.md":          func(p *Plan) { p.Skills[1].Files = nil },
		"skills/tell/x":                 func(p *Plan) { p.Skills[1].Files = append(p.Skills[1].Files, File{Path: "x"}) },
		"":                              func(p *Plan) { p.Policy.CPUs = 7 },
	} {
		p := sample(t)
		change(p)
		require.Equal(t, file, Compare(sample(t), p)[0].File)
	}
}

// TestCompareMissesNothing changes every leaf of a plan, by its type, and asks for a change that names its group.
func TestCompareMissesNothing(t *testing.T) {
	full := sample(t)
	full.Skills[0].Findings = []Finding{{Rule: "JOY-X", Severity: "note", File: "f", Line: 1, Message: "m"}}
	full.Skills[0].InputSchema = json.RawMessage(`{}`)
	full.Connections["local"] = Connection{
		Transport: "stdio", Argv: []string{"bin/x"}, Env: []string{"A"}, Server: &Server{"n", "1"}, Unconfined: "reason",
		Files: []File{{Path: "bin/x", Mode: "0755", Size: 1, SHA256: "aa"}},
	}
	full.Steps[0].Sandbox.Override = &Override{Required: true, Reason: "r"}
	pin := "sha256:aa"
	full.Image = Image{"base", Pins{&pin, &pin}, Pins{&pin, &pin}, E2BTemplate{"t", "b"}}
	leaves := 0
	visit(reflect.ValueOf(full).Elem(), func(name string, change func() (undo func())) {
		if name == ".LockVersion" || name == ".Digest" {
			return
		}
		leaves++
		before := *sampleCopy(t, full)
		undo := change()
		got := Compare(&before, sampleCopy(t, full))
		undo()
		require.NotEmpty(t, got, name)
		for _, c := range got {
			require.NotEmpty(t, c.Group, name)
			require.NotEqual(t, c.Before, c.After, name)
		}
	})
	require.Greater(t, leaves, 90)
}

// sampleCopy is a deep copy by way of JSON, as a plan comes from a lock.
func sampleCopy(t *testing.T, p *Plan) *Plan {
	raw, err := json.Marshal(p)
	require.NoError(t, err)
	var out Plan
	require.NoError(t, json.Unmarshal(raw, &out))
	return &out
}

// visit hands over a way to change each leaf below v.
func visit(v reflect.Value, leaf func(name string, change func() (undo func()))) {
	visitAt("", v, leaf)
}

func visitAt(name string, v reflect.Value, leaf func(string, func() func())) {
	set := func(to any) {
		leaf(name, func() func() {
			old := reflect.New(v.Type()).Elem()
			old.Set(v)
			v.Set(reflect.ValueOf(to).Convert(v.Type()))
			return func() { v.Set(old) }
		})
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			visitAt(name+"."+v.Type().Field(i).Name, v.Field(i), leaf)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			visitAt(name, v.Elem(), leaf)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			at := reflect.New(v.Type().Elem()).Elem()
			at.Set(v.MapIndex(key))
			visitAt(name+"."+key.String(), at, func(n string, change func() func()) {
				leaf(n, func() func() {
					undo := change()
					v.SetMapIndex(key, at)
					return func() { undo(); v.SetMapIndex(key, at) }
				})
			})
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			set(json.RawMessage(`{"changed":1}`))
			return
		}
		for i := range v.Len() {
			visitAt(fmt.Sprintf("%s[%d]", name, i), v.Index(i), leaf)
		}
		if v.Len() > 0 {
			set(v.Slice(0, v.Len()-1).Interface())
		}
	case reflect.String:
		set("changed")
	case reflect.Bool:
		set(!v.Bool())
	case reflect.Float64:
		set(v.Float() + 1)
	default:
		set(v.Int() + 1<<20)
	}
}
