package account_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// failing is a run in which step render fails with what happened in it, as kind.
func failing(kind string, more ledger.Data, happened ...record) []record {
	end := ledger.Data{"status": "failed", "failure_kind": kind, "error": "it went wrong", "ms": 1500}
	for k, v := range more {
		end[k] = v
	}
	list := []record{{ledger.RunStarted, "", ledger.Data{"agent": "a"}}, {ledger.StepStarted, "render", ledger.Data{"kind": "script"}}}
	list = append(list, happened...)
	return append(list, record{ledger.StepFinished, "render", end}, record{ledger.StepSkipped, "tell", ledger.Data{"reason": "render failed"}},
		record{ledger.RunFinished, "", ledger.Data{"outcome": "failed", "failure_kind": kind, "error": "step render: it went wrong", "step": "render"}})
}

func command(end ledger.Data) []record {
	end["of"] = 3
	return []record{{ledger.CommandStarted, "render", ledger.Data{"command": "bash x.sh", "bytes": 9}}, {ledger.CommandFinished, "render", end}}
}

func diagnose(t *testing.T, records []record, words string) account.Diagnosis {
	t.Helper()
	c := account.Case{Run: "20261124-180300-k3fq2a", LastWords: func(verify.Entry) (string, bool) { return words, words != "" }}
	open := each(t, write(t, records), c.Add)
	return c.Diagnose(open)
}

func TestDiagnose(t *testing.T) {
	denied := func(kind, reason string) record {
		return record{ledger.ToolDenied, "render", ledger.Data{"action": "slack.post", "reason": reason, "kind": kind}}
	}
	host := record{ledger.EgressDenied, "render", ledger.Data{"to": "host", "host": "evil.example:443", "reason": "not granted"}}
	vm := record{ledger.SandboxRequested, "render", ledger.Data{"provider": "microvm", "memory": 512 << 20}}
	exit := func(code int) []record { return command(ledger.Data{"exit": code}) }
	for name, c := range map[string]struct {
		records    []record
		words      string
		cause      string
		category   string
		confidence string
		change     string
		evidence   []string
	}{
		"its program, with words":  {failing("agent", nil, exit(7)...), "KeyError: 'week'", "(exit 7); the last it said: KeyError: 'week'", account.Spec, "medium", "", []string{"command.started", "command.finished", "stderr", "step.finished"}},
		"its program, without":     {failing("agent", nil, exit(7)...), "", account.Unsure, account.Spec, "low", "", []string{"command.started", "command.finished", "step.finished"}},
		"no such program":          {failing("agent", nil, exit(127)...), "x.sh: foo: not found", "not there (exit 127)", account.Spec, "medium", "", nil},
		"a signal":                 {failing("agent", nil, command(ledger.Data{"exit": 139, "signal": "SIGSEGV"})...), "bye", "(SIGSEGV)", account.Spec, "medium", "", nil},
		"memory":                   {failing("agent", nil, append(command(ledger.Data{"exit": 137, "signal": "SIGKILL", "reason": "oom"}), vm)...), "", "more memory", account.Spec, "high", "memory: 1024MiB", nil},
		"processes":                {failing("agent", nil, command(ledger.Data{"exit": 1, "reason": "pids"})...), "", "more processes", account.Spec, "high", "", nil},
		"an answer that is none":   {failing("agent", ledger.Data{"error": "the script printed no result"}, exit(0)...), "", "printed no result", account.Spec, "high", "", nil},
		"its time limit":           {failing("agent", ledger.Data{"timeout": true}, command(ledger.Data{"ended_by": "time limit"})...), "", "time limit", account.Spec, "high", "timeout: 4s", []string{"command.finished", "step.finished"}},
		"a call it may not make":   {failing("policy", nil, denied("policy", "not granted to this step")), "", "does not let it", account.Spec, "high", `- {action: "slack.post"}`, []string{"tool.denied", "step.finished"}},
		"a call too many":          {failing("policy", nil, denied("policy", "max_calls is 1")), "", "max_calls is 1", account.Spec, "high", "", nil},
		"a refused approval":       {failing("policy", nil, record{ledger.ApprovalDenied, "render", ledger.Data{"action": "slack.post", "reason": "ann did not approve"}}, denied("policy", "ann did not approve")), "", "was refused: ann did not approve", account.Spec, "high", "", []string{"approval.denied", "tool.denied", "step.finished"}},
		"another call's approval":  {failing("policy", nil, record{ledger.ApprovalDenied, "render", ledger.Data{"action": "a.b", "reason": "ann did not approve"}}, denied("policy", "max_calls is 1")), "", "does not let it", account.Spec, "high", "", []string{"tool.denied", "step.finished"}},
		"nobody approved":          {failing("policy", ledger.Data{"consent": true}, denied("consent", "not on a terminal")), "", "needs an approval", account.Spec, "high", "", nil},
		"arguments":                {failing("input", nil, denied("input", "week: not a string")), "", "arguments that the tool does not take", account.Spec, "high", "", nil},
		"a program after a denial": {failing("agent", nil, append(exit(1), denied("policy", "not granted"))...), "", "had been denied to it", account.Spec, "medium", "slack.post", nil},
		"a host":                   {failing("agent", nil, append(exit(6), host)...), "curl: (56)", "a connection to evil.example had been denied", account.Spec, "medium", `egress: ["evil.example"]`, nil},
		"a tool that changed":      {failing("connection", nil, record{ledger.ToolDrifted, "render", ledger.Data{"action": "x.y", "pinned": plan}}), "", "not the one that the plan has pinned", account.Connection, "high", "", nil},
		"a tool that failed":       {failing("connection", nil, record{ledger.ToolReturned, "render", ledger.Data{"action": "x.y", "failed": true, "ms": 1}}), "", "failed on the other side", account.Connection, "high", "", nil},
		"no credit":                {failing("connection", nil, record{ledger.ToolReturned, "render", ledger.Data{"action": "x.y", "error": "HTTP 402 Payment Required", "ms": 1}}), "", "payment", account.Credits, "medium", "", nil},
		"a number that is no 402":  {failing("connection", nil, record{ledger.ToolReturned, "render", ledger.Data{"action": "x.y", "error": "402 rows are too many", "ms": 1}}), "", "other side", account.Connection, "high", "", nil},
		"a credential":             {failing("connection", ledger.Data{"consent": true}), "", "it went wrong", account.Connection, "high", "", nil},
		"an input":                 {failing("input", nil), "", "it went wrong", account.Input, "high", "", nil},
		"a lost VM":                {failing("platform", nil, record{ledger.SandboxRequested, "render", ledger.Data{}}, record{ledger.SandboxLost, "render", ledger.Data{"of": 3, "reason": "gone"}}), "", "VM went away", account.Platform, "high", "", []string{"sandbox.lost", "step.finished"}},
		"the platform":             {failing("platform", nil), "", "it went wrong", account.Platform, "medium", "", nil},
		"no word of why":           {failing("agent", ledger.Data{"error": ""}), "", account.Unsure, account.Spec, "low", "", []string{"step.finished"}},
		"a kind nobody knows":      {failing("weather", nil), "", account.Unsure, account.Unknown, "low", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d := diagnose(t, c.records, c.words)
			require.Contains(t, d.RootCause, c.cause)
			require.Equal(t, [3]string{c.category, c.confidence, "render"}, [3]string{d.Category, d.Confidence, d.Step})
			require.Contains(t, d.SpecChange, c.change)
			require.Equal(t, c.change == "", d.SpecChange == "")
			require.NotEmpty(t, d.Remediation)
			require.Equal(t, d.RootCause == account.Unsure, d.UnsureReason != "", "unsure has a reason, and only that")
			require.Equal(t, []string{"tell"}, d.Skipped)
			var types []string
			for _, e := range d.Evidence {
				types = append(types, e.Type)
			}
			require.Contains(t, types, "step.finished")
			if c.evidence != nil {
				require.Equal(t, c.evidence, types)
			}
		})
	}
}

func TestDiagnoseWithoutAnEnd(t *testing.T) {
	d := diagnose(t, failing("agent", nil, command(ledger.Data{"exit": 0})[:1]...)[:3], "")
	require.Equal(t, [3]string{account.Unsure, account.Unknown, "low"}, [3]string{d.RootCause, d.Category, d.Confidence})
	require.Contains(t, d.UnsureReason, "no run.finished")
	require.Equal(t, []int64{2, 3}, []int64{d.Evidence[0].Seq, d.Evidence[1].Seq})

	c := account.Case{Run: "r", Live: true}
	require.Contains(t, c.Diagnose(nil).UnsureReason, "still going on")
}

func TestDiagnoseNoFailure(t *testing.T) {
	d := diagnose(t, []record{{ledger.RunStarted, "", ledger.Data{}}, {ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"}}}, "")
	require.Equal(t, [3]string{"succeeded", "", ""}, [3]string{d.Outcome, d.RootCause, d.Category})

	d = diagnose(t, []record{{ledger.RunStarted, "", ledger.Data{}}, {ledger.RunFinished, "", ledger.Data{"outcome": "interrupted", "failure_kind": "agent", "error": "interrupted"}}}, "")
	require.Contains(t, d.RootCause, "stopped from outside")
	require.Equal(t, account.Unknown, d.Category)
}

func TestDiagnoseKeepsTheLastOfMany(t *testing.T) {
	denied := slices.Repeat([]record{{ledger.EgressDenied, "render", ledger.Data{"host": "a.example", "reason": "no"}}}, 5000)
	d := diagnose(t, failing("agent", nil, append(denied, record{ledger.EgressDenied, "render", ledger.Data{"host": "b.example", "reason": "no"}})...), "")
	require.Contains(t, d.RootCause, "b.example")
}
