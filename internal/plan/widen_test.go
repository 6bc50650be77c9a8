package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/policy"
)

// pinned is the sample with all that can be widened.
func pinned(t *testing.T) *Plan {
	p := sample(t)
	one, two := "sha256:1", "sha256:2"
	p.Image = Image{"base", Pins{AMD64: &one, ARM64: &two}, Pins{}, E2BTemplate{"acme/joy", "b1"}}
	p.Policy.Isolation, p.Policy.Start, p.Policy.Approvals = "hardware", "cold", "ask-all"
	p.Policy.Providers = []string{"microvm"}
	p.Policy.Egress = []string{"*.example.com"}
	p.Connections["local"] = Connection{Transport: "stdio", Argv: []string{"bin/x"}, Env: []string{"A"}, Secrets: map[string]string{"A": "secret:a"}, Server: &Server{"n", "1"}}
	p.Steps[1].Tools[0].With = json.RawMessage(`{"channel":"C1"}`)
	return p
}

func TestWhatWidens(t *testing.T) {
	connection := func(p *Plan, name string, change func(c *Connection)) {
		c := p.Connections[name]
		change(&c)
		p.Connections[name] = c
	}
	three := "sha256:3"
	for name, tc := range map[string]struct {
		why    string
		change func(p *Plan)
	}{
		"tool of a step":       {"another tool", func(p *Plan) { p.Steps[0].Tools = []Grant{{Action: "drive.upload"}} }},
		"tool of a connection": {"another tool", func(p *Plan) { p.Connections["drive"].Tools["rm"] = Tool{Digest: "d"} }},
		"action of a step":     {"another tool", func(p *Plan) { p.Steps[2].Action = "drive.rm" }},
		"new action step":      {"another tool is called", func(p *Plan) { p.Steps = append(p.Steps, Step{ID: "x", Kind: Action, Action: "drive.upload"}) }},
		"new step with a tool": {"another tool", func(p *Plan) { p.Steps = append(p.Steps, Step{ID: "x", Kind: Script, Tools: []Grant{{Action: "a.b"}}}) }},
		"new step with a host": {"another host", func(p *Plan) {
			p.Steps = append(p.Steps, Step{ID: "x", Kind: Script, Egress: []string{"a.example.com"}})
		}},
		"fixed argument":      {"no longer fixed", func(p *Plan) { p.Steps[1].Tools[0].With = nil }},
		"other argument":      {"no longer fixed", func(p *Plan) { p.Steps[1].Tools[0].With = json.RawMessage(`{"channel":"C2"}`) }},
		"more calls":          {"limit", func(p *Plan) { p.Steps[1].Tools[0].MaxCalls = 2 }},
		"any number of calls": {"limit", func(p *Plan) { p.Steps[1].Tools[0].MaxCalls = 0 }},
		"host":                {"another host", func(p *Plan) { p.Policy.Egress = append(p.Policy.Egress, "b.com") }},
		"host of a step":      {"another host", func(p *Plan) { p.Steps[0].Egress = []string{"a.example.com"} }},
		"host of setup":       {"another host", func(p *Plan) { p.Setup.Egress = []string{"a.example.com"} }},
		"setup":               {"a limit", func(p *Plan) { p.Setup.Timeout *= 2 }},
		"connection":          {"another service", func(p *Plan) { p.Connections["x"] = Connection{Transport: "http", URL: "https://x"} }},
		"url":                 {"another service", func(p *Plan) { connection(p, "drive", func(c *Connection) { c.URL = "https://x" }) }},
		"argv":                {"another program", func(p *Plan) { connection(p, "local", func(c *Connection) { c.Argv = []string{"sh"} }) }},
		"variable":            {"another secret", func(p *Plan) { connection(p, "local", func(c *Connection) { c.Env = []string{"A", "B"} }) }},
		"secret": {"another secret", func(p *Plan) {
			connection(p, "local", func(c *Connection) { c.Secrets = map[string]string{"A": "secret:b"} })
		}},
		"bearer": {"another secret", func(p *Plan) {
			connection(p, "drive", func(c *Connection) { c.Secrets = map[string]string{Bearer: "secret:b"} })
		}},
		"unconfined":            {"not confined", func(p *Plan) { connection(p, "local", func(c *Connection) { c.Unconfined = "r" }) }},
		"server":                {"pin is replaced", func(p *Plan) { connection(p, "local", func(c *Connection) { c.Server = &Server{"n", "2"} }) }},
		"tool definition":       {"pin is replaced", func(p *Plan) { p.Connections["drive"].Tools["upload"] = Tool{Digest: "other"} }},
		"model url":             {"another place", func(p *Plan) { p.Model.BaseURL = "https://x" }},
		"model provider":        {"another provider", func(p *Plan) { p.Model.Provider = "x" }},
		"model key":             {"another secret", func(p *Plan) { p.Model.Key = "secret:x" }},
		"cost":                  {"limit", func(p *Plan) { p.Model.MaxCost = 0 }},
		"turns":                 {"limit", func(p *Plan) { p.Model.MaxTurns++ }},
		"sandbox":               {"no longer runs in the sandbox", func(p *Plan) { p.Steps[0].Sandbox.Required = false }},
		"sandbox by override":   {"no longer runs in the sandbox", func(p *Plan) { p.Steps[0].Sandbox.Override = &Override{Reason: "fast"} }},
		"cpus":                  {"limit", func(p *Plan) { p.Policy.CPUs++ }},
		"memory":                {"limit", func(p *Plan) { p.Policy.Memory++ }},
		"disk":                  {"limit", func(p *Plan) { p.Policy.Disk++ }},
		"time":                  {"limit", func(p *Plan) { p.Policy.Timeout++ }},
		"time of a step":        {"limit", func(p *Plan) { p.Steps[0].Timeout++ }},
		"artifacts":             {"limit", func(p *Plan) { p.Policy.Artifacts.MaxTotal++ }},
		"isolation":             {"emulation", func(p *Plan) { p.Policy.Isolation = "any" }},
		"start":                 {"snapshot", func(p *Plan) { p.Policy.Start = "any" }},
		"approvals":             {"less is asked", func(p *Plan) { p.Policy.Approvals = "ask-risky" }},
		"approval of a step":    {"less is asked", func(p *Plan) { p.Steps[1].Approve = "granted" }},
		"provider":              {"another provider", func(p *Plan) { p.Policy.Providers = []string{"e2b", "microvm"} }},
		"allow":                 {"a finding is accepted", func(p *Plan) { p.Allow = append(p.Allow, Allow{"JOY-X", "f", "r"}) }},
		"image":                 {"pin is replaced", func(p *Plan) { p.Image.Microvm.AMD64 = &three }},
		"template":              {"pin is replaced", func(p *Plan) { p.Image.E2B.Build = "b2" }},
		"profile":               {"another image", func(p *Plan) { p.Image.Profile = "full" }},
		"workspace":             {"another workspace", func(p *Plan) { p.Agent.Workspace = "x" }},
		"a rule without a word": {"less is asked", func(p *Plan) { p.Policy.Approvals = "whatever" }},
	} {
		p := pinned(t)
		tc.change(p)
		var why []string
		for _, c := range Compare(pinned(t), p) {
			why = append(why, c.Widens)
		}
		require.Contains(t, strings.Join(why, "\n"), tc.why, name)
	}
}

func TestWhatDoesNotWiden(t *testing.T) {
	for name, change := range map[string]func(p *Plan){
		"everything gone":   func(p *Plan) { *p = Plan{LockVersion: 1, Rules: 1, Agent: p.Agent, Policy: p.Policy, Image: p.Image} },
		"covered host":      func(p *Plan) { p.Policy.Egress = []string{"*.example.com", "a.example.com"} },
		"narrower":          func(p *Plan) { p.Policy.Memory--; p.Model.MaxCost = 1; p.Steps[0].Timeout--; p.Policy.Providers = nil },
		"stricter":          func(p *Plan) { p.Steps[2].Approve = "ask"; p.Steps[1].Approve = "ask" },
		"one more argument": func(p *Plan) { p.Steps[1].Tools[0].With = json.RawMessage(`{"channel":"C1","text":"x"}`) },
		"into the sandbox":  func(p *Plan) { p.Steps[1].Sandbox.Required = true },
		"unpinned":          func(p *Plan) { p.Image.Microvm = Pins{}; p.Image.E2B.Build = "" },
		"other work":        func(p *Plan) { p.Skills[0].Files[0].SHA256 = "bb"; p.Steps[0].With = json.RawMessage(`{"n":1}`) },
		"a step of no power": func(p *Plan) {
			p.Steps = append(p.Steps, Step{ID: "x", Kind: Script, Sandbox: Sandbox{Required: true}})
		},
		"confined again": func(p *Plan) { p.Connections["local"] = Connection{Transport: "stdio", Argv: []string{"bin/x"}} },
	} {
		p := pinned(t)
		change(p)
		got := Compare(pinned(t), p)
		require.NotEmpty(t, got, name)
		for _, c := range got {
			require.Empty(t, c.Widens, "%s: %s", name, c)
		}
	}
}

func TestAFirstPlanIsComparedWithNothing(t *testing.T) {
	p := sample(t)
	var widens int
	for _, c := range Compare(Nothing(p), p) {
		if c.Widens != "" {
			widens++
		}
		require.NotEqual(t, "agent", c.Group)
	}
	require.Equal(t, 6, widens, "model, setup, connection, allow, a tool of a step, an action called without asking")
}

// TestEveryRuleHasAField keeps the table from naming what no plan has.
func TestEveryRuleHasAField(t *testing.T) {
	known := map[string]bool{"tool": true, "connection.file": true, "connection.secret": true}
	var walk func(kind string, typ reflect.Type)
	walk = func(kind string, typ reflect.Type) {
		for i := range typ.NumField() {
			f := typ.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			known[kind+"."+key] = true
			if f.Type.Kind() == reflect.Struct {
				walk(kind+"."+key, f.Type)
			}
		}
	}
	for kind, typ := range map[string]reflect.Type{
		"agent": reflect.TypeFor[Agent](), "model": reflect.TypeFor[Model](), "policy": reflect.TypeFor[policy.Policy](),
		"setup": reflect.TypeFor[Setup](), "connection": reflect.TypeFor[Connection](), "image": reflect.TypeFor[Image](),
		"step": reflect.TypeFor[Step](), "grant": reflect.TypeFor[Grant](),
	} {
		walk(kind, typ)
	}
	for rule := range widening {
		require.True(t, known[rule], rule)
	}
}
