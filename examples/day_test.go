//go:build unix

package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

const day = "day-sheet/skills/"

func daylight(t *testing.T, date, city string) worldtest.Result {
	t.Helper()
	return worldtest.New(t, day+"daylight").Run(t, map[string]any{"date": date, "city": city})
}

// To two minutes, in summer and winter, and over the night in which the clocks change.
func TestDaylight(t *testing.T) {
	for _, tt := range []struct{ date, city, sunrise, sunset string }{
		{"2026-12-01", "New York", "07:01", "16:29"},
		{"2026-06-21", "New York", "05:25", "20:31"},
		{"2026-12-01", "Chicago", "07:00", "16:20"},
		{"2026-03-07", "Chicago", "06:16", "17:48"}, // the day before the clocks change
		{"2026-03-08", "Chicago", "07:15", "18:49"},
		{"2026-06-21", "Los Angeles", "05:42", "20:08"},
	} {
		result := daylight(t, tt.date, tt.city)
		require.Equal(t, 0, result.Exit, result.Stderr)
		near(t, tt.sunrise, result.Value["sunrise"].(string))
		near(t, tt.sunset, result.Value["sunset"].(string))
	}
}

func near(t *testing.T, want, got string) {
	t.Helper()
	minutes := func(clock string) (n int) {
		var hours int
		_, err := fmt.Sscanf(clock, "%d:%d", &hours, &n)
		require.NoError(t, err)
		return hours*60 + n
	}
	require.InDelta(t, minutes(want), minutes(got), 2, "want %s, got %s", want, got)
}

func TestDaylightThatIsNone(t *testing.T) {
	for _, tt := range []struct{ date, city, want string }{
		{"2026-12-01", "Atlantis", "'Atlantis' is none of New York, Chicago"},
		{"2026-02-30", "Chicago", "'2026-02-30' is no day"},
	} {
		result := daylight(t, tt.date, tt.city)
		require.Equal(t, 1, result.Exit)
		require.Contains(t, result.Stderr, tt.want)
		require.NotContains(t, result.Stderr, "Traceback")
	}
}

// daySheet runs write-sheet with a stand-in for joy-guest: it answers as the filesystem server does for the files of
// office, and denies what lies in none of its directories. The real one is in TestDaySheetInVM.
func daySheet(t *testing.T, visits, conditions string) (worldtest.Result, *worldtest.World) {
	t.Helper()
	office, err := filepath.Abs("day-sheet/office")
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "joy-guest"), []byte(`#!/bin/sh
[ "$1 $2" = "call office.read_text_file" ] || exit 2
case $3 in
path=customers/refused.md) echo "joy-guest: office.read_text_file: denied by plan, do not retry" >&2; exit 5;;
path=customers/many.md) exec python3 -c 'import json; print(json.dumps({"content": "# Many\n" + "a line\n" * 60}))';;
esac
[ -f "`+office+`/${3#path=}" ] || { echo "joy-guest: ENOENT: no such file or directory, open '$3'" >&2; exit 1; }
exec python3 -c 'import json, sys; print(json.dumps({"content": open(sys.argv[1], encoding="utf-8").read()}))' "`+office+`/${3#path=}"
`), 0o700))
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	w := worldtest.New(t, day+"write-sheet")
	return w.Run(t, map[string]any{
		"date": "2026-12-01", "city": "Chicago", "visits": visits, "weather": map[string]any{"conditions": conditions, "humidity": 48, "temperature": 7},
		"daylight": map[string]any{"sunrise": "07:00", "sunset": "16:20"},
	}), w
}

const head = "time,minutes,customer,work,where\n"

func TestDaySheet(t *testing.T) {
	result, w := daySheet(t, head+"16:00,30,kowalski,Paint | the *door*,outdoors\n06:30,45,harbor-cafe,Look,outdoors\n07:00,15,many,Wait,indoors\n", "Sunny")
	require.Equal(t, 0, result.Exit, result.Stderr)
	require.Equal(t, []any{
		"06:30 harbor-cafe: begins before sunrise (07:00)", "07:00 many: begins before harbor-cafe is over (07:15)",
		"16:00 kowalski: ends at 16:30, after sunset (16:20)",
	}, result.Value["warnings"])
	require.EqualValues(t, 2, result.Value["noted"])
	sheet := w.Out(t, "sheet.md")
	require.Contains(t, sheet, "## 06:30–07:15 Harbor Café\n\nLook (outdoors)\n\n- **Mind:** begins before sunrise (07:00)\n\n2 Pier Walk\n")
	require.Contains(t, sheet, `Paint \| the \*door\* (outdoors)`)
	require.Contains(t, sheet, "\n\nNothing is noted.\n")
	require.Equal(t, 40, strings.Count(sheet, "a line\n"))
	require.Contains(t, sheet, "(The notes go on.)")
}

func TestDayWithoutVisits(t *testing.T) {
	result, w := daySheet(t, head, "Snow\n# loud")
	require.Equal(t, 0, result.Exit, result.Stderr)
	require.Equal(t, "# Tuesday 1 December 2026, Chicago\n\nSnow \\# loud, humidity 48% · daylight 07:00 to 16:20\n\nNo visits.\n", w.Out(t, "sheet.md"))
}

func TestDaySheetThatFails(t *testing.T) {
	row := func(fields ...string) string { return head + strings.Join(fields, ",") + "\n" }
	for name, tt := range map[string]struct{ visits, want string }{
		"a call that is denied": {row("08:00", "60", "refused", "Look", "indoors"), "reading customers/refused.md: joy-guest: office.read_text_file: denied by plan"},
		"a path for a customer": {row("08:00", "60", "../visits/x", "Look", "indoors"), "line 2: '../visits/x' is no customer"},
		"no table":              {"Not a table", "line 1: its first line is not time,minutes"},
		"nothing":               {" ", "line 1: its first line is not"},
		"a field short":         {row("08:00", "60", "many", "Look"), "line 2: it has 4 fields and not 5"},
		"a time":                {row("25:00", "60", "many", "Look", "indoors"), "line 2: '25:00' is no time"},
		"minutes":               {row("08:00", "-1", "many", "Look", "indoors"), "line 2: '-1' is no number of minutes"},
		"neither in nor out":    {row("08:00", "60", "many", "Look", "under water"), "line 2: 'under water' is neither"},
		"an open quote":         {head + `08:00,60,many,"Look` + "\n", "line 2: unexpected end of data"},
	} {
		t.Run(name, func(t *testing.T) {
			result, w := daySheet(t, tt.visits, "Sunny")
			require.Equal(t, 1, result.Exit)
			require.Contains(t, result.Stderr, tt.want)
			require.NotContains(t, result.Stderr, "Traceback")
			require.Len(t, w.Files(t), 1, "no sheet: only the input is there")
		})
	}
}
