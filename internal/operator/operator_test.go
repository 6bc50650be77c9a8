package operator

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/signature"
)

const lockPath = "../../examples/repo-report/joy.lock"

func request(t *testing.T, change func(*plan.Plan)) Request {
	t.Helper()
	lock, err := os.ReadFile(lockPath)
	require.NoError(t, err)
	p, err := plan.Decode(lock, "joy.lock")
	require.NoError(t, err)
	if change != nil {
		change(p)
	}
	return Request{Plan: p, Lock: lock, Name: "joy.lock"}
}

func parse(t *testing.T, text string) Policies {
	t.Helper()
	p, err := Parse([]byte("version: 1\n"+text+"\n"), "/etc/joy/policy.yaml")
	require.NoError(t, err)
	return Policies{p}
}

func outside(p *plan.Plan) {
	p.Policy.Egress = []string{"a.example.com", "evil.example"}
	p.Connections = map[string]plan.Connection{
		"drive": {Transport: "http", URL: "https://mcp.example.com/drive"},
		"files": {Transport: "stdio", Argv: []string{"npx", "-y", "@mcp/server-files", "/data"}, Unconfined: "reason"},
	}
	p.Model = &plan.Model{Provider: "anthropic", Name: "claude-sonnet-5", MaxTokens: 1000, MaxTurns: 20}
	p.Steps[0].Approve = "granted"
}

// Each refusal is exit 5, at a line of the lock, and names the line of the policy.
func TestJudgeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"isolation: hardware":       "policy.isolation is any",
		"start: cold":               "policy.start is any",
		"providers: []":             "policy.providers is microvm, kata, e2b",
		"approvals: ask-all":        "policy.approvals is ask-risky",
		"approvals: ask-risky":      "grants its own approval",
		"egress: []":                "reach a.example.com",
		"egress: ['*.example.com']": "reach evil.example",
		"unconfined: false":         "files is to run unconfined",
		"limits: {cpus: 1}":         "policy.cpus is 2, and the operator allows 1",
		"limits: {memory: 512MiB}":  "policy.memory is 1GiB",
		"limits: {disk: 1GiB}":      "policy.disk is 4GiB",
		"limits: {timeout: 1m}":     "policy.timeout is 10m",
		"limits: {max_file: 1MiB}":  "policy.artifacts.max_file is 8MiB",
		"limits: {max_total: 1MiB}": "policy.artifacts.max_total is 16MiB",
		"limits: {max_files: 2}":    "policy.artifacts.max_files is 10",
		"spend: {max_cost: 1.5}":    "model.max_cost is 0",
		"spend: {max_tokens: 999}":  "model.max_tokens is 1000",
		"spend: {max_turns: 1}":     "model.max_turns is 20",
		"models: []":                "anthropic/claude-sonnet-5",
		"connections: []":           "the connection drive is https://mcp.example.com/drive",
		"models: [{provider: anthropic, name: claude-opus-*}]":                            "claude-sonnet-5",
		"models: [{provider: anthropic, name: '*', base_url: 'https://a.com'}]":           "its provider's own address",
		"connections: [{url: 'https://mcp.example.com/*'}]":                               "the connection files is npx",
		"connections: [{command: [npx, '**']}, {url: 'https://mcp.example.com/other/*'}]": "the connection drive",
		"connections: [{command: [npx, '-y', '*']}, {url: 'https://mcp.example.com'}]":    "the connection files",
	} {
		err := parse(t, text).Judge(request(t, outside))
		require.ErrorContains(t, err, want, text)
		require.Equal(t, fault.Policy, fault.KindOf(err), text)
		for _, e := range fault.All(err) {
			require.Equal(t, "joy.lock", e.File)
			require.Contains(t, e.Msg, "(/etc/joy/policy.yaml:2:", text)
		}
	}
	require.NoError(t, parse(t, `isolation: any
start: any
approvals: granted
providers: [microvm]
egress: ["*.example.com", evil.example]
connections: [{url: "https://mcp.example.com/*"}, {command: [npx, -y, "@mcp/*", "**"]}]
unconfined: true
models: [{provider: anthropic, name: "claude-*"}]
spend: {max_tokens: 1000, max_turns: 20}
limits: {cpus: 2, memory: 1GiB, disk: 4GiB, timeout: 10m, max_file: 8MiB, max_total: 16MiB, max_files: 10}`).Judge(request(t, outside)))
	require.NoError(t, parse(t, "").Judge(request(t, outside)), "what is not named is not bounded")
	require.NoError(t, Policies(nil).Judge(request(t, outside)))
}

func TestJudgeNamesTheLineOfTheLock(t *testing.T) {
	q := request(t, nil)
	err := parse(t, "isolation: hardware").Judge(q)
	lines := strings.Split(string(q.Lock), "\n")
	require.Contains(t, lines[fault.All(err)[0].Line-1], `"isolation": "any"`)
	q.Provider = "microvm"
	err = parse(t, "providers: [e2b]").Judge(q)
	require.ErrorContains(t, err, "the sandbox would come from microvm")
	require.Contains(t, lines[fault.All(err)[0].Line-1], `"providers": [`)
}

// A user's policy tightens the machine's: both are satisfied, whatever one of them allows.
func TestAUserCanOnlyTighten(t *testing.T) {
	machine, user := parse(t, "limits: {cpus: 1}"), parse(t, "limits: {cpus: 64}\negress: []")
	err := append(machine, user...).Judge(request(t, outside))
	require.ErrorContains(t, err, "policy.cpus is 2, and the operator allows 1")
	require.ErrorContains(t, err, "reach evil.example")
}

func TestSignatures(t *testing.T) {
	key := func(name string) signature.Key {
		k, err := signature.NewKey(filepath.Join(t.TempDir(), name), name, rand.Reader)
		require.NoError(t, err)
		return k
	}
	alice, mallory := key("alice"), key("mallory")
	ps, q := parse(t, "signatures: ['"+alice.Public.String()+"']"), request(t, nil)
	err := ps.Judge(q)
	require.ErrorContains(t, err, "none of those whom the operator names")
	require.Equal(t, fault.Policy, fault.KindOf(err))

	q.Sig, err = signature.Sign(q.Plan, mallory, nil)
	require.NoError(t, err)
	require.Equal(t, fault.Policy, fault.KindOf(ps.Judge(q)))

	other := request(t, func(p *plan.Plan) { p.Agent.Name = "other" })
	q.Sig, err = signature.Sign(other.Plan, alice, nil)
	require.NoError(t, err)
	require.Equal(t, fault.Drift, fault.KindOf(ps.Judge(q)))

	q.Sig, err = signature.Sign(q.Plan, alice, nil)
	require.NoError(t, err)
	require.NoError(t, ps.Judge(q))
}

func TestConnectionAlone(t *testing.T) {
	ps := parse(t, "connections: [{url: 'https://mcp.example.com/*'}]\nunconfined: false")
	require.NoError(t, ps.Connection("drive", nil, "https://mcp.example.com/drive", ""))
	require.Equal(t, fault.Policy, fault.KindOf(ps.Connection("evil", []string{"touch", "/tmp/owned"}, "", "")))
	require.NoError(t, Policies(nil).Connection("evil", []string{"touch"}, "", "x"))
}
