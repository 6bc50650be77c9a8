package ledger_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

var update = flag.Bool("update", false, "write the golden ledgers anew")

var (
	plan = "sha256:" + strings.Repeat("ab", 32)
	noon = time.Date(2026, 11, 24, 18, 3, 0, 0, time.UTC)
)

// ticking is a clock that goes on by 250 ms at each look.
func ticking() func() time.Time {
	at := noon.Add(-250 * time.Millisecond)
	return func() time.Time {
		at = at.Add(250 * time.Millisecond)
		return at
	}
}

type record struct {
	typ  ledger.Type
	step string
	data ledger.Data
}

// story is a short run with a sandbox, denials and text that wants to paint on a terminal.
var story = []record{
	{ledger.RunStarted, "", ledger.Data{
		"plan": plan, "agent": "weekly-report", "workspace": "acme", "provider": "microvm", "trigger": "manual",
		"actor": map[string]any{"host": "laptop", "user": "ada"}, "input": ledger.Data{"bytes": 17, "sha256": plan},
	}},
	{ledger.StepStarted, "render", ledger.Data{"kind": "script", "vm": true, "skill": "render-report", "bundle": plan}},
	{ledger.SandboxRequested, "render", ledger.Data{"provider": "microvm", "image": plan, "cpus": 2, "memory": 2 << 30}},
	{ledger.SandboxCreated, "render", ledger.Data{
		"of": 3, "provider": "microvm", "image": plan, "isolation": "hardware", "accelerator": "kvm", "ms": 412,
	}},
	{ledger.TokenIssued, "render", ledger.Data{"token": "0badcafe", "workspace": "acme", "agent": "weekly-report"}},
	{ledger.CommandStarted, "render", ledger.Data{"command": "python3 /workspace/skills/render-report/render.py", "bytes": 49}},
	{ledger.ToolDenied, "render", ledger.Data{"action": "slack.post", "reason": "not granted"}},
	{ledger.EgressDenied, "render", ledger.Data{"host": "evil.example", "port": 443, "reason": "not in the plan"}},
	{ledger.CommandFinished, "render", ledger.Data{
		"of": 6, "exit": 0, "ms": 950, "stdout": ledger.Data{"bytes": 2048, "sha256": plan},
		"stderr": ledger.Data{"bytes": 31, "sha256": plan, "encoding": "invalid"},
		"last":   "\x1b]0;pwned\x07\x1b[1A\x1b[2Kjoy: run succeeded \u202egpj.exe\nsecond line \u2028<&>\u0085",
	}},
	{ledger.ArtifactStored, "render", ledger.Data{"name": "report.pdf", "bytes": 48213, "sha256": plan, "command": 6}},
	{ledger.TokenRevoked, "render", ledger.Data{"token": "0badcafe"}},
	{ledger.StepFinished, "render", ledger.Data{"status": "succeeded", "ms": 1204}},
	{ledger.SandboxDestroyed, "", ledger.Data{"of": 3, "verified": true}},
	{ledger.RunFinished, "", ledger.Data{"outcome": "succeeded", "ms": 3250, "steps": ledger.Data{"succeeded": 1, "failed": 0, "skipped": 0}}},
}

// write tells the records to a new ledger in a new directory and returns the file's bytes.
func write(t *testing.T, records []record) []byte {
	t.Helper()
	dir := t.TempDir()
	w, err := ledger.Create(dir, "20261124-180300-k3fq2a", plan, ledger.Options{Now: ticking()})
	require.NoError(t, err)
	for _, r := range records {
		_, err := w.Append(r.typ, r.step, r.data)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	b, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)
	return b
}

func TestGolden(t *testing.T) {
	interrupted := story[:6]
	for name, records := range map[string][]record{"finished.jsonl": story, "interrupted.jsonl": interrupted} {
		t.Run(name, func(t *testing.T) {
			got := write(t, records)
			path := filepath.Join("testdata", name)
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o600))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
			require.Equal(t, len(records), bytes.Count(got, []byte("\n")))
		})
	}
}
