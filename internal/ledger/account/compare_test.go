package account_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
)

// usual is a run with something of everything that is compared.
func usual() []record {
	return []record{
		{ledger.RunStarted, "", ledger.Data{"agent": "a", "provider": "microvm", "input": body("i"), "files": ledger.Data{"orders": ledger.Data{"name": "o.csv", "bytes": 1, "sha256": "sha256:o"}}}},
		{ledger.StepStarted, "a", ledger.Data{"kind": "script", "bundle": plan}},
		{ledger.SandboxRequested, "a", ledger.Data{"provider": "microvm"}},
		{ledger.SandboxCreated, "a", ledger.Data{"of": 3, "id": "vm1", "image": plan, "start": "cold", "ms": 400}},
		{ledger.TokenIssued, "a", ledger.Data{"token": "0badcafe"}},
		{ledger.CommandStarted, "a", ledger.Data{"command": "true", "bytes": 4}},
		{ledger.EgressAllowed, "a", ledger.Data{"host": "files.example", "port": 443, "token": "0badcafe"}},
		{ledger.CommandFinished, "a", ledger.Data{"of": 6, "exit": 0, "ms": 9, "stdout": body("out"), "stderr": body("err")}},
		{ledger.ArtifactStored, "a", ledger.Data{"name": "r.pdf", "bytes": 4, "sha256": plan, "command": 6}},
		{ledger.StepFinished, "a", ledger.Data{"status": "succeeded", "ms": 10, "output": body("out")}},
		{ledger.StepStarted, "b", ledger.Data{"kind": "action", "action": "x.y"}},
		{ledger.ToolRequested, "b", ledger.Data{"action": "x.y", "arguments": body("{}")}},
		{ledger.ToolReturned, "b", ledger.Data{"of": 12, "action": "x.y", "ms": 3, "failed": false, "result": body("r")}},
		{ledger.StepFinished, "b", ledger.Data{"status": "succeeded", "ms": 5}},
		{ledger.RunFinished, "", ledger.Data{"outcome": "succeeded", "ms": 20}},
	}
}

func compare(t *testing.T, a, b []record) account.Comparison {
	t.Helper()
	runs := [2]*account.Run{account.NewRun(), account.NewRun()}
	each(t, write(t, a), runs[0].Add)
	each(t, write(t, b), runs[1].Add)
	return account.Compare(runs[0], runs[1])
}

func TestCompareTellsOfOneChange(t *testing.T) {
	both := func(step, what, name string) [4]string { return [4]string{step, what, name, "both"} }
	for name, c := range map[string]struct {
		entry int // counted from 1
		key   string
		value any
		want  [4]string
	}{
		"input":           {1, "input", body("j"), both("", "input", "")},
		"input file":      {1, "files", ledger.Data{"orders": body("p")}, both("", "input", "orders")},
		"agent":           {1, "agent", "b", both("", "agent", "")},
		"image":           {4, "image", "sha256:1", both("", "image", "")},
		"bundle":          {2, "bundle", "sha256:1", both("a", "step", "")},
		"command":         {6, "command", "false", both("a", "command", "1")},
		"exit":            {8, "exit", 1, both("a", "command end", "1")},
		"signal":          {8, "signal", "SIGKILL", both("a", "command end", "1")},
		"stdout":          {8, "stdout", body("tuo"), both("a", "stdout", "1")},
		"stderr":          {8, "stderr", body("rre"), both("a", "stderr", "1")},
		"artifact":        {9, "sha256", "sha256:1", both("a", "artifact", "r.pdf")},
		"output":          {10, "output", body("tuo"), both("a", "output", "")},
		"status":          {10, "status", "failed", both("a", "status", "")},
		"kind of failure": {10, "failure_kind", "agent", both("a", "status", "")},
		"arguments":       {12, "arguments", body("[]"), both("b", "call", "1")},
		"answer":          {13, "result", body("s"), both("b", "answer", "1")},
		"outcome":         {15, "outcome", "failed", both("", "outcome", "")},
	} {
		t.Run(name, func(t *testing.T) {
			changed := usual()
			changed[c.entry-1].data[c.key] = c.value
			found := compare(t, usual(), changed).Differences
			require.Len(t, found, 1)
			d := found[0]
			require.Equal(t, c.want, [4]string{d.Step, d.What, d.Name, d.In})
			require.NotEqual(t, d.A, d.B)
		})
	}
}

func TestCompareDoesNotCount(t *testing.T) {
	other := usual()
	other[3].data["id"], other[3].data["ms"], other[3].data["start"] = "vm2", 9000, "snapshot"
	other[4].data["token"], other[6].data["token"] = "11111111", "11111111"
	other[7].data["ms"], other[9].data["ms"], other[14].data["ms"] = 1, 2, 3
	c := compare(t, usual(), other)
	require.Empty(t, c.Differences)
	require.Equal(t, []account.Difference{{What: "circumstance", Name: "start", A: "cold", B: "snapshot", In: "both"}}, c.Circumstances)
	require.Equal(t, []account.Took{{"", 20, 3}, {"a", 10, 2}, {"b", 5, 5}}, c.Took)
}

func TestCompareStepsSideBySide(t *testing.T) {
	mixed := usual()
	b := slices.Clone(mixed[10:14])
	b[2].data["of"] = 3 // where its call is now
	mixed = slices.Concat(mixed[:1], b, mixed[1:10], mixed[14:])
	mixed[7].data["of"], mixed[11].data["of"] = 7, 10
	b[2].data["of"] = 3
	require.Empty(t, compare(t, usual(), mixed).Differences)
}

func TestCompareWhatOneHasNot(t *testing.T) {
	less := slices.Delete(usual(), 6, 7) // no egress
	less[6].data["of"], less[11].data["of"] = 6, 11
	want := account.Difference{Step: "a", What: "egress.allowed", Name: "files.example 443", In: "a"}
	require.Equal(t, []account.Difference{want}, compare(t, usual(), less).Differences)
	want.In = "b"
	require.Equal(t, []account.Difference{want}, compare(t, less, usual()).Differences)
}
