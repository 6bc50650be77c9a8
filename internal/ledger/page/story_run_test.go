package page_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/page"
	"github.com/joystream-ai/joy/internal/plan"
)

const script = "import sys\n# Renders <b>the</b> orders.\nprint(\"rendering\")\nsys.exit(3)\n"

// failedRun has one of everything that a ledger can tell, and fails in its second step.
func failedRun(t *testing.T, mark string) *told {
	t.Helper()
	s := tell(t)
	s.mark = mark
	s.add(0, ledger.RunStarted, "", ledger.Data{
		"plan": planDigest, "agent": "weekly-report", "workspace": "acme", "provider": "microvm", "trigger": "manual",
		"actor": ledger.Data{"host": "laptop", "user": "ada"}, "input": s.body(`{"week":48,"region":"north"}`),
		"files": ledger.Data{"orders": ledger.Data{"name": "orders.csv", "bytes": 48213, "sha256": planDigest}},
	})
	s.add(4, ledger.RunWaiting, "", ledger.Data{"reason": "two VMs are running"})
	s.add(900, ledger.RunResumed, "", ledger.Data{"ms": 900})
	s.add(2, ledger.StepStarted, "fetch", ledger.Data{"kind": "script", "vm": true, "skill": "fetch-orders", "bundle": planDigest})
	vm := s.add(3, ledger.SandboxRequested, "fetch", ledger.Data{"provider": "microvm", "image": planDigest, "cpus": 2, "memory": 1 << 30, "disk": 4 << 30})
	s.add(1240, ledger.SandboxCreated, "fetch", ledger.Data{
		"of": vm, "id": "vm-1", "provider": "microvm", "image": planDigest, "isolation": "hardware", "accelerator": "kvm", "start": "snapshot", "confinement": "namespaces, landlock, seccomp", "ms": 1240,
	})
	cmd := s.add(30, ledger.CommandStarted, "fetch", ledger.Data{"command": "python3 /workspace/skills/fetch-orders/fetch.py", "bytes": 47, "input": s.body(`{"week":48}`)})
	net := s.add(210, ledger.EgressAllowed, "fetch", ledger.Data{"host": "orders.example.com", "port": 443, "addresses": []any{"198.51.100.7"}, "token": "0badcafe"})
	s.add(880, ledger.EgressClosed, "fetch", ledger.Data{"of": net, "host": "orders.example.com", "address": "198.51.100.7", "up": 2311, "down": 948_213, "ms": 880})
	s.add(20, ledger.EgressDenied, "fetch", ledger.Data{"to": "host", "host": "telemetry.example.net", "port": 443, "reason": "the plan grants no such host"})
	call := s.add(40, ledger.ToolRequested, "fetch", ledger.Data{"action": "crm.lookup", "tool": planDigest, "arguments": s.body(`{"customer":"ACME & Söhne","fields":["name","tier"]}`)})
	s.add(320, ledger.ToolReturned, "fetch", ledger.Data{"of": call, "action": "crm.lookup", "ms": 320, "failed": false, "result": s.body(`{"name":"ACME & Söhne","tier":"gold"}`)})
	s.add(100, ledger.CommandFinished, "fetch", ledger.Data{
		"of": cmd, "exit": 0, "ms": 1570,
		"stdout": s.log("fetch", 1, "stdout", "948 orders\n\x1b[32mdone\x1b[0m\n"), "stderr": s.log("fetch", 1, "stderr", ""),
	})
	s.add(3, ledger.ScrubFound, "fetch", ledger.Data{"in": "stdout", "secret": "CRM_TOKEN", "count": 2})
	s.artifact("fetch", "orders.csv", []byte("week,region,orders\n48,north,948\n"))
	s.add(5, ledger.StepFinished, "fetch", ledger.Data{"status": "succeeded", "ms": 3380, "output": s.body(`{"orders":948}`)})
	s.render()
	s.add(6, ledger.StepSkipped, "post", ledger.Data{"reason": "render failed"})
	s.add(180, ledger.SandboxDestroyed, "fetch", ledger.Data{"of": vm, "id": "vm-1", "verified": true})
	s.add(5, ledger.RunFinished, "", ledger.Data{
		"outcome": "failed", "failure_kind": "agent", "step": "render", "error": "python3 ended with exit 3", "ms": 9020,
		"steps": ledger.Data{"succeeded": 1, "failed": 1, "skipped": 1},
	})
	return s
}

// render is the step that fails.
func (s *told) render() {
	s.add(2, ledger.StepStarted, "render", ledger.Data{"kind": "script", "vm": true, "skill": "render-report", "bundle": planDigest})
	first := s.add(25, ledger.CommandStarted, "render", ledger.Data{"command": "sh -eu -c 'mkdir -p out\ncp template.html out/\ndate >out/when'", "bytes": 62})
	s.add(140, ledger.CommandFinished, "render", ledger.Data{
		"of": first, "exit": 0, "ms": 140, "stdout": s.log("render", 1, "stdout", "kept\n"), "stderr": s.log("render", 1, "stderr", ""),
	})
	ask := s.add(30, ledger.ApprovalRequested, "render", ledger.Data{"action": "mail.send", "destination": "https://mail.example.com/mcp", "arguments": s.body(`{"to":"board@example.com"}`), "digest": planDigest})
	s.add(1400, ledger.ApprovalDenied, "render", ledger.Data{"of": ask, "action": "mail.send", "reason": "ada said no"})
	s.add(3, ledger.ToolDenied, "render", ledger.Data{"action": "mail.send", "reason": "nobody approved it", "kind": "consent"})
	s.add(3, ledger.ToolDrifted, "render", ledger.Data{"action": "mail.draft", "pinned": planDigest})
	call := s.add(30, ledger.ToolRequested, "render", ledger.Data{"action": "chart.draw", "tool": planDigest, "arguments": s.body(`{"kind":"line"}`)})
	s.add(610, ledger.ToolReturned, "render", ledger.Data{"of": call, "action": "chart.draw", "ms": 610, "error": "the server answered 502"})
	cmd := s.add(40, ledger.CommandStarted, "render", ledger.Data{"command": "python3 /workspace/skills/render-report/render.py --week 48", "bytes": 58})
	s.add(1630, ledger.CommandFinished, "render", ledger.Data{
		"of": cmd, "exit": 3, "ms": 1630, "stdout": s.log("render", 2, "stdout", strings.Repeat("rendered a row of the table\n", 3000)),
		"stderr": s.log("render", 2, "stderr", "Traceback (most recent call last):\n  File \"/workspace/skills/render-report/render.py\", line 41, in <module>\n    draw(orders)\n\x1b[31mKeyError: 'region'\x1b[0m \u202egpj.exe\x00?\n"),
	})
	for _, format := range []string{"png", "jpeg", "gif"} {
		s.artifact("render", "chart."+format, encoded(s.t, format))
	}
	webp, err := os.ReadFile(filepath.Join("testdata", "dot.webp"))
	require.NoError(s.t, err)
	s.artifact("render", "dot.webp", webp)
	s.artifact("render", "logo.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`))
	s.artifact("render", "report.pdf", []byte("%PDF-1.7\n1 0 obj\n"))
	s.artifact("render", "photo.png", []byte("GIF89a, it says"))
	s.artifact("render", "data.bin", bytes.Repeat([]byte{0, 1, 2, 0xff}, 500))
	s.add(2, ledger.ArtifactSkipped, "render", ledger.Data{"name": "core", "reason": "larger than the plan allows", "bytes": 90 << 20})
	s.add(2, ledger.ArtifactQuarantined, "render", ledger.Data{"name": "dump.sqlite", "bytes": 8192, "secret": "CRM_TOKEN", "form": "plain", "count": 1})
	s.add(4, ledger.StepFinished, "render", ledger.Data{"status": "failed", "ms": 3960, "failure_kind": "agent", "error": "python3 ended with exit 3"})
}

// withPlan gives a record the plan that failedRun ran.
func withPlan(s *told) func(*page.Record) {
	f := s.body(script)
	sum := strings.TrimPrefix(f["sha256"].(string), "sha256:")
	return func(r *page.Record) {
		r.Plan = &plan.Plan{
			Digest: planDigest, Skills: []plan.Skill{{
				Name: "render-report", Path: "skills/render-report", Files: []plan.File{{Path: "render.py", Mode: "0644", Size: int64(len(script)), SHA256: sum}},
			}},
			Steps: []plan.Step{
				{ID: s.mark + "fetch", Kind: plan.Script, Skill: s.mark + "fetch-orders", Sandbox: plan.Sandbox{Required: true}},
				{
					ID: s.mark + "render", Kind: plan.Script, Skill: "render-report", Needs: []string{s.mark + "fetch"},
					Entry: &plan.Entry{Path: "render.py", Argv: []string{"python3"}}, Sandbox: plan.Sandbox{Required: true},
				},
				{ID: s.mark + "post", Kind: plan.Action, Action: s.mark + "mail.send", Needs: []string{s.mark + "render"}},
			},
		}
	}
}
