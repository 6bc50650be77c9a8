package export_test

import (
	"bytes"
	"crypto/sha256"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/plan"
)

const runName = "20261124-180300-k3fq2a"

// ab is a digest that stands for any.
var ab = "sha256:" + strings.Repeat("ab", 32)

func body(n int) ledger.Data { return ledger.Data{"bytes": n, "sha256": ab} }

type record struct {
	typ  ledger.Type
	step string
	data ledger.Data
}

// story is a run that does one of everything.
var story = []record{
	{ledger.RunStarted, "", ledger.Data{
		"agent": "weekly-report", "workspace": "acme", "plan": ab, "provider": "microvm", "trigger": "manual", "joy": ab,
		"guest": ab, "actor": ledger.Data{"user": "ada", "host": "laptop"}, "input": body(17),
		"files": ledger.Data{"orders": ledger.Data{"name": "orders.csv", "bytes": 9, "sha256": ab}},
	}},
	{ledger.RunWaiting, "", ledger.Data{"reason": "another run has the machine"}},
	{ledger.RunResumed, "", ledger.Data{"ms": 250}},
	{ledger.StepStarted, "render", ledger.Data{"kind": "script", "skill": "render-report", "bundle": ab, "vm": true}},
	{ledger.SandboxRequested, "render", ledger.Data{"provider": "microvm", "image": ab, "cpus": 2}},
	{ledger.SandboxCreated, "render", ledger.Data{"of": 5, "provider": "microvm", "image": ab, "isolation": "hardware", "accelerator": "kvm", "ms": 250}},
	{ledger.CommandStarted, "render", ledger.Data{"command": "python3 render.py", "bytes": 17}},
	{ledger.EgressDenied, "render", ledger.Data{"to": "host", "host": "evil.example", "reason": "not in the plan"}},
	{ledger.ToolDenied, "render", ledger.Data{"action": "slack.post", "reason": "not granted", "kind": "policy"}},
	{ledger.CommandFinished, "render", ledger.Data{"of": 7, "exit": 3, "ms": 950, "stdout": body(2048), "stderr": body(0)}},
	{ledger.CommandStarted, "render", ledger.Data{"command": "true", "bytes": 4}},
	{ledger.CommandFinished, "render", ledger.Data{"of": 11, "exit": 0, "ms": 1, "stdout": body(12), "stderr": body(0)}},
	{ledger.EgressAllowed, "render", ledger.Data{"host": "files.example.com", "port": 443, "addresses": []any{"192.0.2.1"}}},
	{ledger.EgressClosed, "render", ledger.Data{"of": 13, "host": "files.example.com", "up": 10, "down": 20, "ms": 5}},
	{ledger.ArtifactStored, "render", ledger.Data{"name": "report.pdf", "bytes": 48213, "sha256": ab, "command": 7}},
	{ledger.StepFinished, "render", ledger.Data{"status": "succeeded", "ms": 1204, "output": body(42)}},
	{ledger.StepStarted, "drop", ledger.Data{"kind": "action", "action": "drive.upload", "vm": false}},
	{ledger.ApprovalRequested, "drop", ledger.Data{"action": "drive.upload", "destination": "https://mcp.example.com/drive"}},
	{ledger.ApprovalGranted, "drop", ledger.Data{"of": 18, "action": "drive.upload", "by": "ada at a terminal"}},
	{ledger.ToolRequested, "drop", ledger.Data{"action": "drive.upload", "tool": ab, "arguments": body(9), "approval": 19}},
	{ledger.ToolReturned, "drop", ledger.Data{"of": 20, "action": "drive.upload", "ms": 30, "failed": false, "result": body(7)}},
	{ledger.StepFinished, "drop", ledger.Data{"status": "succeeded", "ms": 50}},
	{ledger.StepStarted, "tell", ledger.Data{"kind": "model", "skill": "write-summary", "bundle": ab, "vm": true}},
	{ledger.ModelRequested, "tell", ledger.Data{"turn": 1, "provider": "anthropic", "model": "claude-sonnet-5", "max_tokens": 1000, "request": body(900)}},
	{ledger.ModelReplied, "tell", ledger.Data{
		"of": 24, "turn": 1, "ms": 70, "attempts": 1, "status": 200, "response": body(300), "model": "claude-sonnet-5-20260930", "stop": "end",
		"calls": 0, "tokens": ledger.Data{"in": 20, "out": 33, "cache_read": 100, "cache_write": 3}, "cost_microdollars": 700,
	}},
	{ledger.StepFinished, "tell", ledger.Data{"status": "succeeded", "ms": 80}},
	{ledger.SandboxDestroyed, "", ledger.Data{"of": 5, "verified": true}},
	{ledger.RunFinished, "", ledger.Data{"outcome": "succeeded", "ms": 3250, "steps": ledger.Data{"succeeded": 3, "failed": 0, "skipped": 0}}},
}

// workspaceKey is the same key at each call.
func workspaceKey(t testing.TB, seed string) notekey.Key {
	t.Helper()
	sum := sha256.Sum256([]byte(seed))
	key, err := notekey.Workspace.New(filepath.Join(t.TempDir(), "key"), "acme", bytes.NewReader(sum[:]))
	require.NoError(t, err)
	return key
}

// written is the ledger of these records, sealed when its run finished.
func written(t testing.TB, records []record) []byte {
	t.Helper()
	at := time.Date(2026, 11, 24, 18, 3, 0, 0, time.UTC)
	var out bytes.Buffer
	w, err := ledger.Memory(runName, ab, ledger.Options{Tee: &out, Now: func() time.Time { at = at.Add(250 * time.Millisecond); return at }})
	require.NoError(t, err)
	for _, r := range records {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	if records[len(records)-1].typ == ledger.RunFinished {
		_, err = w.Seal(workspaceKey(t, "acme"), nil)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// exported is that ledger in a format.
func exported(t testing.TB, name string, lines []byte, change func(*export.Run)) (string, error) {
	t.Helper()
	rep, err := verify.Check(bytes.NewReader(lines), verify.Options{})
	require.NoError(t, err)
	require.NotEqual(t, verify.Broken, rep.State, rep.Problem)
	run := export.Run{Report: rep, Joy: "v1.2.3", JoyDigest: ab, Key: func() (notekey.Key, error) { return workspaceKey(t, "acme"), nil }}
	if change != nil {
		change(&run)
	}
	format, ok := export.Find(name)
	require.True(t, ok, name)
	var out bytes.Buffer
	w, err := format.Open(&out, run)
	require.NoError(t, err)
	_, err = verify.Check(bytes.NewReader(lines), verify.Options{Each: func(e verify.Entry) { require.NoError(t, w.Add(e)) }})
	require.NoError(t, err)
	err = w.Close()
	return out.String(), err
}

// frozen is a plan with a skill and a tool that no step came to.
func frozen() *plan.Plan {
	return &plan.Plan{
		Agent:  plan.Agent{Spec: plan.File{Path: "joy.yaml", SHA256: strings.Repeat("cd", 32)}},
		Skills: []plan.Skill{{Name: "render-report", Digest: ab}, {Name: "unused", Digest: ab}},
		Connections: map[string]plan.Connection{"drive": {
			Files: []plan.File{{Path: "bin/drive", SHA256: strings.Repeat("ef", 32)}},
			Tools: map[string]plan.Tool{"upload": {Digest: ab}, "list": {Digest: ab}},
		}},
	}
}

func TestFormatsHaveNamesOfTheirOwn(t *testing.T) {
	require.Equal(t, []string{"in-toto", "otlp", "csv"}, export.Names())
	for _, name := range []string{"", "CSV", "intoto", "json", "csv "} {
		_, ok := export.Find(name)
		require.False(t, ok, name)
	}
}
