package account_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// busy is a run whose step runs n commands, of which text says what each does.
func busy(n int, text func(i int) string) []record {
	list := []record{{ledger.RunStarted, "", ledger.Data{"agent": "a"}}, {ledger.StepStarted, "render", ledger.Data{"kind": "script"}}}
	for i := range n {
		list = append(list,
			record{ledger.CommandStarted, "render", ledger.Data{"command": text(i), "bytes": 4}},
			record{ledger.CommandFinished, "render", ledger.Data{"of": len(list) + 1, "exit": i % 2, "ms": 1}})
	}
	return append(list, record{ledger.StepFinished, "render", ledger.Data{"status": "failed", "failure_kind": "agent", "error": "exit 1"}},
		record{ledger.RunFinished, "", ledger.Data{"outcome": "failed", "failure_kind": "agent", "step": "render", "error": "exit 1"}})
}

func numbered(i int) string { return fmt.Sprintf("echo %d", i) }

// TestCompareLongRuns holds that what is not held one by one is compared all the same.
func TestCompareLongRuns(t *testing.T) {
	const n = 1500
	other := func(at int) func(int) string {
		return func(i int) string {
			if i == at {
				return "other"
			}
			return numbered(i)
		}
	}
	a := busy(n, numbered)
	require.Empty(t, compare(t, a, busy(n, numbered)).Differences)

	early := compare(t, a, busy(n, other(10))).Differences
	require.Len(t, early, 2)
	require.Equal(t, account.Difference{Step: "render", What: "command", Name: "11", A: "echo 10", B: "other", In: "both"}, early[0])

	all := "1500, of which the first 1000 were compared one by one"
	late := compare(t, a, busy(n, other(n-1))).Differences
	require.Equal(t, []account.Difference{{Step: "render", What: "command", Name: "in all", A: all, B: all, In: "both"}}, late)

	for _, d := range compare(t, a, busy(n-1, numbered)).Differences {
		require.Equal(t, "in all", d.Name, "what one holds and the other does not is none: %+v", d)
	}
	swapped := compare(t, a, busy(n, func(i int) string { return numbered(i ^ 1) })).Differences
	require.Contains(t, swapped, late[0], "the order counts")
}

func TestCompareLongValues(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	script := func(text string) []record { return busy(1, func(int) string { return text }) }
	require.Empty(t, compare(t, script(long), script(long)).Differences)
	found := compare(t, script(long), script(long+"!")).Differences
	require.Len(t, found, 1)
	require.Less(t, len(found[0].A), 4<<10)
	require.Contains(t, found[0].B, "… sha256:")
	require.Contains(t, found[0].B, ", 2097153 bytes")
}

// TestDiagnoseLongRuns holds that a step which did very much, or which had much beside it, is still explained by its last command.
func TestDiagnoseLongRuns(t *testing.T) {
	d := diagnose(t, busy(3000, numbered), "boom")
	require.Contains(t, d.RootCause, "(exit 1); the last it said: boom")
	require.Equal(t, int64(6001), d.Evidence[0].Seq, "the command that failed")

	var list []record
	for i := range 6000 {
		list = append(list, record{ledger.EgressDenied, fmt.Sprintf("s%d", i), ledger.Data{"to": "host", "host": "x", "reason": "no"}},
			record{ledger.StepSkipped, fmt.Sprintf("s%d", i), ledger.Data{"reason": "render failed"}})
	}
	long := busy(1, func(int) string { return strings.Repeat("x", 1<<20) })
	d = diagnose(t, append(append(list[:0:0], long[0]), append(list, long[1:]...)...), "boom")
	require.Len(t, d.Skipped, 2000)
	for _, e := range d.Evidence {
		require.Less(t, len(e.Says), 9<<10)
	}
}

func TestDiagnoseManyStartsWithoutAnEnd(t *testing.T) {
	list := []record{{ledger.RunStarted, "", nil}}
	for range 300 {
		list = append(list, record{ledger.ToolRequested, "a", ledger.Data{"action": "x.y"}})
	}
	d := diagnose(t, list, "")
	require.Equal(t, account.Unsure, d.RootCause)
	require.Len(t, d.Evidence, 102)
	require.Contains(t, d.Evidence[100].Says, "this entry and 199 more have no end")
}

func TestMomentOfVeryMuch(t *testing.T) {
	m := account.Moment{When: account.When{From: began, To: began.Add(24 * time.Hour)}}
	add := func(typ string, of int64) {
		seq := int64(len(m.During) + m.More + 1)
		m.Add(verify.Entry{Seq: seq, Type: typ, Step: "a", Time: began, Data: map[string]any{"of": of}})
	}
	for range 6000 {
		add("command.started", 0)
	}
	for i := range int64(3) {
		add("command.finished", i+1)
	}
	require.Len(t, m.During, 5000)
	require.Equal(t, 1003, m.More)
	require.Len(t, m.Open(), 5000)
	require.Equal(t, 1000, m.Lost)
	require.NotNil(t, m.Open()[2].End)
	require.Nil(t, m.Open()[3].End)
}
