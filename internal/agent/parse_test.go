package agent

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/policy"
)

// minimal is the smallest valid file; tests append to it.
const minimal = "version: 1\nname: a\nskills: [skills/a]\n"

func TestWholeGrammar(t *testing.T) {
	data, err := os.ReadFile("testdata/whole.yaml")
	require.NoError(t, err)
	s, err := Parse(data, "joy.yaml")
	require.NoError(t, err)

	require.Equal(t, "weekly-report", s.Name)
	require.Equal(t, "acme", s.Workspace)
	require.JSONEq(t, `{"type":"object","required":["week"],"properties":{"week":{"type":"string"}}}`, string(s.Inputs.JSON))
	require.Equal(t, []Trigger{{"0 5 * * 1", "Europe/Berlin", "once"}}, s.Triggers)
	require.Equal(t, 1.5, s.Model.MaxCost)
	require.Equal(t, "secret:anthropic", s.Model.Key)
	require.Equal(t, "skills/render-report", s.Skills[0].Value)
	require.Equal(t, []string{"./bin/sales-mcp"}, s.Connections["sales"].Command)
	require.Equal(t, "secret:drive", s.Connections["drive"].Bearer)
	require.Equal(t, "scripts/setup.sh", s.Setup.Run.Value)
	require.Len(t, s.Steps, 4)
	require.Equal(t, `{"week":"${{ inputs.week }}"}`, string(s.Steps[0].With.JSON))
	require.Equal(t, "render", s.Steps[2].Needs[0].Value)
	require.Equal(t, 1, s.Steps[2].Tools[0].MaxCalls)
	require.Equal(t, "granted", s.Steps[3].Approve)
	require.Equal(t, policy.Size(2<<30), s.Policy.Memory)
	require.Equal(t, []string{"files.example.com"}, s.Policy.Egress)
	require.Equal(t, "JOY-CURL-SH", s.Allow[0].Rule)
	require.Equal(t, "testdata/orders.json", s.Fixtures["sales.list_orders"].Value)
}

func TestDefaults(t *testing.T) {
	s, err := Parse([]byte(minimal), "joy.yaml")
	require.NoError(t, err)
	require.Equal(t, policy.Default(), s.Policy)
	require.Equal(t, "local", s.Workspace)
	require.Equal(t, "base", s.Image.Value)
	require.Nil(t, s.Model)
	require.Nil(t, s.Steps)
}

// Every line is a mistake appended to minimal, and where and how joy says so. Line 4 is the first appended one.
func TestMistakes(t *testing.T) {
	for _, tc := range []struct{ add, place, want string }{
		{"polcy: {}\n", "4:1", `unknown key "polcy"`},
		{"policy: {memroy: 1GiB}\n", "4:10", `unknown key "memroy" in policy`},
		{"policy: {memory: 64MiB}\n", "4:18", "outside 128MiB"},
		{"policy: {memory: 2GB}\n", "4:18", "not a size"},
		{"policy: {memory: [1]}\n", "4:18", "must be a size"},
		{"policy: {cpus: 65}\n", "4:16", "outside 1 to 64"},
		{"policy: {cpus: two}\n", "4:16", "whole number"},
		{"policy: {timeout: 5}\n", "4:19", "must be text"},
		{"policy: {timeout: 5x}\n", "4:19", "not a duration"},
		{"policy: {isolation: none}\n", "4:21", `cannot be "none"`},
		{"policy: {providers: []}\n", "4:21", "nothing is left"},
		{"policy: {egress: [10.0.0.1]}\n", "4:19", "not a host name"},
		{"policy: {egress: [\"https://a.com\"]}\n", "4:19", "leave out the scheme"},
		{"policy: {egress: [\"a.*.com\"]}\n", "4:19", "not a host name"},
		{"policy: {egress: a.com}\n", "4:18", "must be a list, not text"},
		{"image: huge\n", "4:8", `image "huge"`},
		{"image: sha256:abc\n", "4:8", "64 hex digits"},
		{"workspace: Acme\n", "4:12", "a-z, 0-9 and -"},
		{"description: 12\n", "4:14", "must be text, not a number"},
		{"description:\n", "4:1", "description has no value"},
		{"inputs: []\n", "4:9", "must be a mapping"},
		{"inputs: {minimum: 0x10}\n", "4:19", "not a number of JSON"},
		{"inputs: {minimum: .inf}\n", "4:19", "not a number of JSON"},
		{"inputs: {minimum: 9007199254740993}\n", "4:9", "2^53"},
		{"triggers: [{schedule: \"0 5 * *\", timezone: UTC}]\n", "4:23", "4 fields"},
		{"triggers: [{schedule: \"0 5 * * 1\"}]\n", "4:12", "needs timezone"},
		{"triggers: [{schedule: \"0 5 * * 1\", timezone: Mars/Base}]\n", "4:46", "IANA"},
		{"model: {provider: ollama, name: b}\n", "4:19", "no model provider"},
		{"model: {provider: anthropic}\n", "4:8", "model needs name"},
		{"model: {provider: openai, name: b, key: sk-live}\n", "4:41", "never written"},
		{"model: {provider: openai, name: b, base_url: \"http://example.com/v1\"}\n", "4:46", "must be https"},
		{"model: {provider: openai, name: b, base_url: \"https://u:p@example.com\"}\n", "4:46", "user or password"},
		{"model: {provider: openai, name: b, max_cost: -1}\n", "4:46", "above 0"},
		{"model: {provider: openai, name: b, max_turns: 0}\n", "4:47", "outside 1"},
		{"connections: {a: {command: [x], url: \"https://a.com\"}}\n", "4:15", "only one"},
		{"connections: {a: {}}\n", "4:15", "command or a url"},
		{"connections: {a: {command: [x], env: {K: plain}}}\n", "4:42", "never written"},
		{"connections: {a: {url: \"https://a.com\", unconfined: no net}}\n", "4:15", "for a command"},
		{"connections: {A_b: {command: [x]}}\n", "4:15", "not a key"},
		{"setup: {}\n", "4:8", "setup needs run"},
		{"setup: {run: ../x.sh}\n", "4:14", "leaves the project"},
		{"setup: {run: a/../../x.sh}\n", "4:14", "leaves the project"},
		{"setup: {run: /etc/x.sh}\n", "4:14", "relative"},
		{"setup: {run: 'C:\\x.sh'}\n", "4:14", "relative"},
		{"setup: {run: 'a\\x.sh'}\n", "4:14", "forward slashes"},
		{"setup: {run: a.sh, egress: [b.com]}\n", "4:14", "policy.egress does not grant"},
		{"steps: []\n", "4:8", "steps is empty"},
		{"steps: [{skill: a}]\n", "4:9", "needs id"},
		{"steps: [{id: A, skill: a}]\n", "4:14", "a-z, 0-9 and -"},
		{"steps: [{id: setup, skill: a}]\n", "4:14", "belongs to setup"},
		{"steps: [{id: a, skill: a}, {id: a, skill: a}]\n", "4:28", "twice, first in line 4"},
		{"steps: [{id: a}]\n", "4:9", "a skill or an action"},
		{"steps: [{id: a, skill: a, action: c.d}]\n", "4:9", "only one"},
		{"steps: [{id: a, action: upload}]\n", "4:25", "connection.tool"},
		{"steps: [{id: a, skill: a, approve: granted}]\n", "4:9", "nothing to approve"},
		{"steps: [{id: a, action: c.d, egress: []}]\n", "4:9", "for a skill"},
		{"steps: [{id: a, skill: a, sandbox: {required: true}}]\n", "4:36", "needs reason"},
		{"steps: [{id: a, skill: a, sandbox: {required: yes, reason: x}}]\n", "4:47", "true or false"},
		{"steps: [{id: a, skill: a, with: [1]}]\n", "4:33", "must be a mapping"},
		{"steps: [{id: a, skill: a, timeout: 20m}]\n", "4:9", "longer than the whole run"},
		{"steps: [{id: a, skill: a, tools: [{action: c.d}, {action: c.d}]}]\n", "4:59", "granted twice"},
		{"allow: [{rule: JOY-X, file: a}]\n", "4:9", "needs reason"},
		{"allow: [{rule: CURL, file: a, reason: b}]\n", "4:16", "it is an id"},
		{"fixtures: {a.b: /etc/passwd}\n", "4:17", "relative"},
		{"fixtures: {ab: x}\n", "4:12", "not a key"},
	} {
		_, err := Parse([]byte(minimal+tc.add), "joy.yaml")
		require.Error(t, err, tc.add)
		first := fault.All(err)[0]
		require.Equal(t, "joy.yaml:"+tc.place, first.Place(), "%s: %v", tc.add, err)
		require.ErrorContains(t, first, tc.want)
		require.Equal(t, fault.Input, first.Kind)
		require.Equal(t, Code, first.Code)
	}
}

func TestNearName(t *testing.T) {
	_, err := Parse([]byte(minimal+"polcy: {}\n"), "joy.yaml")
	require.Equal(t, "did you mean policy?", fault.All(err)[0].Hint)
	require.Empty(t, Near("zzz", []string{"policy", "name"}))
	require.Equal(t, "max_turns", Near("Max-Turns", []string{"max_tokens", "max_turns"}))
}

func TestAllErrorsAreToldInOrderUpToTwenty(t *testing.T) {
	_, err := Parse([]byte("version: 2\nname: A\nskills: [/x]\nimage: y\n"), "joy.yaml")
	var lines []int
	for _, e := range fault.All(err) {
		lines = append(lines, e.Line)
	}
	require.Equal(t, []int{1, 2, 3, 4}, lines)

	_, err = Parse([]byte(minimal+strings.Repeat("x: 1\n", 50)), "joy.yaml")
	all := fault.All(err)
	require.Len(t, all, 21)
	require.ErrorContains(t, all[20], "29 more errors")
}

func TestPlaceInsideAString(t *testing.T) {
	s, err := Parse([]byte("version: 1\nname: a\nskills: [a]\nsteps:\n"+
		"- {id: a, skill: a, with: {x: \"é${{ y }}\", b: é$}}\n- id: b\n  skill: a\n  with:\n    t: |\n      one\n      two\n"), "joy.yaml")
	require.NoError(t, err)
	with := s.Steps[0].With.Strings
	require.Equal(t, Pos{5, 33}, with[0].At(len("é")))
	require.Equal(t, Pos{5, 48}, with[1].At(len("é")))
	block := s.Steps[1].With.Strings[0]
	require.Equal(t, block.Pos, block.At(4), "a block hides its lines; its beginning is told")
}

// A bare name is never a guess: the connections it could be meant for are listed, wherever they are declared.
func TestABareToolNameIsNoAction(t *testing.T) {
	const head = "version: 1\nname: a\nsteps: [{id: a, action: search}, {id: b, skill: s, tools: [{action: find_it}]}]\n"
	_, err := Parse([]byte(head+"connections: {web: {url: 'https://a.com'}, docs: {url: 'https://b.com'}}\n"), "joy.yaml")
	all := fault.All(err)
	require.Len(t, all, 2)
	require.Equal(t, "joy.yaml:3:25", all[0].Place())
	require.Equal(t, "say whose it is: docs.search or web.search", all[0].Hint)
	require.Equal(t, "say whose it is: docs.find_it or web.find_it", all[1].Hint)
	_, err = Parse([]byte(head), "joy.yaml")
	require.Empty(t, fault.All(err)[0].Hint)
}
