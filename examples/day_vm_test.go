//go:build linux

package examples_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDaySheetInVM runs the example on the real servers: two actions beside a script, a script that calls a tool, and
// an action that writes. At E2B and in Kata it comes out the same.
func TestDaySheetInVM(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a VM")
	}
	a := newAgent(t, buildJoy(t), "day-sheet", "base")
	committed := a.fresh()
	a.installed()
	a.run("build", "-q")
	a.samePins(committed)
	today := []string{"run", "-q", "--jsonl", "--input", "date=2026-12-01", "--input", "city=Chicago"}

	code, stdout, stderr := a.try(today...)
	require.Equal(t, 4, code, stderr)
	require.Empty(t, stdout, "nothing is begun that nobody could approve the end of")
	require.Contains(t, stderr, "joy run --approve office.write_file")

	a.run(append(today, "--approve", "office.write_file")...)
	got := a.outcome()
	sheet := a.file("office/sheets/2026-12-01.md")
	require.Contains(t, sheet, "# Tuesday 1 December 2026, Chicago\n\nLight rain / drizzle, humidity 82% · daylight 06:59 to 16:21\n")
	require.Contains(t, sheet, "## 13:00–15:00 Harbor Café\n")
	require.Contains(t, sheet, "- Park behind the boat shed.")
	require.Contains(t, sheet, "Nothing is noted.", "kowalski has no file, and that is no failure")
	require.Equal(t, map[string]any{
		"sheet": "sheet.md", "visits": 5.0, "noted": 3.0, "warnings": []any{
			"13:00 harbor-cafe: outdoors, and the weather is: Light rain / drizzle",
			"15:15 kowalski: ends at 16:30, after sunset (16:21)",
			"15:15 kowalski: outdoors, and the weather is: Light rain / drizzle",
			"16:15 lakeview-school: begins before kowalski is over (16:30)",
		},
	}, got.Steps["sheet"].Output)
	a.run("artifact", "get", "sheet/sheet.md", "-o", "out")
	require.Equal(t, a.file("out/sheet.md"), sheet, "what was written is the artifact")

	shown := a.run("ledger", "show")
	for _, step := range []string{"visits", "weather", "daylight"} { // side by side: each began before any was done
		require.Less(t, lineOf(t, shown, step, "step started"), lineOf(t, shown, "step finished"))
	}
	require.Less(t, lineOf(t, shown, "sheet", "command started"), lineOf(t, shown, "sheet", "tool requested", "office.read_text_file"))
	require.Less(t, lineOf(t, shown, "approval granted", "by --approve"), lineOf(t, shown, "drop", "tool requested", "office.write_file"))
	a.run("ledger", "verify")

	again := func(a *agent, provider string) {
		a.installed()
		a.run("build", "-q")
		a.run(append(today, "--approve", "office.write_file")...)
		a.same(got, provider)
		require.Equal(t, sheet, a.file("office/sheets/2026-12-01.md"))
	}
	t.Run("e2b", func(t *testing.T) {
		remote := newAgent(t, a.joy, "day-sheet", "base")
		remote.atE2B("base")
		again(remote, "e2b")
	})
	t.Run("kata", func(t *testing.T) {
		remote := newCluster(t).agent(t, "day-sheet", "base")
		again(remote, "kata")
		remote.leftNothing()
	})
}
