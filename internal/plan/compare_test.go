package plan

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	for want, change := range map[string]func(p *Plan){
		"~ rules: 1 → 2":                            func(p *Plan) { p.Rules = 2 },
		"~ agent.name: weekly → daily":              func(p *Plan) { p.Agent.Name = "daily" },
		"~ policy.memory: 2GiB → 512MiB":            func(p *Plan) { p.Policy.Memory = 512 << 20 },
		"~ policy.egress: none → a.com":             func(p *Plan) { p.Policy.Egress = []string{"a.com"} },
		"~ model.max_turns: 20 → 3":                 func(p *Plan) { p.Model.MaxTurns = 3 },
		"~ setup.timeout: 1m → 2m":                  func(p *Plan) { p.Setup.Timeout *= 2 },
		"- skill tell: skills/tell, 1 files":        func(p *Plan) { p.Skills = p.Skills[:1] },
		"~ order of skills: count, tell → tell, co": func(p *Plan) { p.Skills = []Skill{p.Skills[1], p.Skills[0]} },
		"~ skill count.path: skills/count → x":      func(p *Plan) { p.Skills[0].Path = "x" },
		"- skill count: file scripts/count.py: 075": func(p *Plan) { p.Skills[0].Files = p.Skills[0].Files[:1] },
		"~ skill count: file SKILL.md: 0644 3 byte": func(p *Plan) { p.Skills[0].Files[0].SHA256 = "aa" },
		"~ connection drive.url: https://mcp.examp": func(p *Plan) { c := p.Connections["drive"]; c.URL = "x"; p.Connections["drive"] = c },
		"- connection drive: http https://mcp":      func(p *Plan) { p.Connections = nil },
		"~ image.profile: base → full":              func(p *Plan) { p.Image.Profile = "full" },
		"~ allow: [{":                               func(p *Plan) { p.Allow = nil },
		"+ step x: action drive.upload":             func(p *Plan) { p.Steps = append(p.Steps, Step{ID: "x", Kind: Action, Action: "drive.upload"}) },
		"~ step tell.needs: count → none":           func(p *Plan) { p.Steps[1].Needs = nil },
		"~ step count.sandbox: sandbox; JOY-ENTRY ": func(p *Plan) { p.Steps[0].Sandbox.Evidence[0].Line = 5 },
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
