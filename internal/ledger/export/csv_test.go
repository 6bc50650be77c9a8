package export_test

import (
	"encoding/csv"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/term"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"report.pdf":                        "report.pdf",
		"a = b - c @ d":                     "a = b - c @ d",
		"sort -u; echo x":                   "sort -u; echo x",
		"a,b \"c\"":                         "a,b \"c\"",
		"=1+1":                              "'=1+1",
		"+1":                                "'+1",
		"-1":                                "'-1",
		"@SUM(A1)":                          "'@SUM(A1)",
		"\uff1d1":                           "'\uff1d1",
		"\uff0b1":                           "'\uff0b1",
		"\uff0d1":                           "'\uff0d1",
		"\uff20SUM(A1)":                     "'\uff20SUM(A1)",
		"\t=1":                              `\t=1`,
		"\r=1":                              `\r=1`,
		"\n=1":                              `\n=1`,
		"\x00=1":                            `\x00=1`,
		"\ufeff=1":                          `\ufeff=1`,
		"\u200b=1":                          `\u200b=1`,
		" =1":                               "' =1",
		"\u00a0=1":                          "'\u00a0=1",
		"\u3000=1":                          "'\u3000=1",
		`"=1"`:                              `'"=1"`,
		"x;=cmd|' /C calc'!A0":              "x;'=cmd|' /C calc'!A0",
		`x; "=1`:                            `x;' "=1`,
		";;=1":                              ";;'=1",
		"=HYPERLINK(\"http://evil\";\"x\")": "'=HYPERLINK(\"http://evil\";\"x\")",
		"\x1b]0;pwned\x07":                  `\x1b]0;pwned\x07`,
		"\u202egpj.exe":                     `\u202egpj.exe`,
		"\xff":                              `\xff`,
	} {
		require.Equal(t, want, export.Cell(text), "%q", text)
	}
	long := export.Cell(strings.Repeat("é", 20_000))
	require.LessOrEqual(t, len(long), 8<<10+len("…"))
	require.True(t, strings.HasSuffix(long, "é…") && utf8.ValidString(long))
}

// begins finds a cell that a spreadsheet would compute, whichever of the two separators it knows.
var begins = regexp.MustCompile(`(^|[;\n\r])[\s\p{Z}"']*[=+\-@＝＋－＠]`)

func FuzzCell(f *testing.F) {
	for _, seed := range []string{"=1", ";\" =1", "a;'=1", "\uff1d", "\r\n@x", "''=1", ";'\"-", "x;=1;=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		cell := export.Cell(text)
		require.NotRegexp(t, `[\x00-\x1f\x7f]`, cell)
		require.True(t, utf8.ValidString(cell))
		for _, at := range begins.FindAllString(cell, -1) {
			require.Regexp(t, `^;?'`, at, "%q", cell)
		}
		var b strings.Builder
		w := csv.NewWriter(&b)
		require.NoError(t, w.Write([]string{"1", cell, "2"}))
		w.Flush()
		row, err := csv.NewReader(strings.NewReader(b.String())).Read()
		require.NoError(t, err)
		require.Equal(t, []string{"1", cell, "2"}, row)
	})
}

func TestTable(t *testing.T) {
	out, err := exported(t, "csv", written(t, story), nil)
	require.NoError(t, err)
	require.Equal(t, len(story)+2, strings.Count(out, "\r\n"), "a line for the head, and for each entry with run.sealed")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll() // as many cells in each
	require.NoError(t, err)
	require.Equal(t, export.Columns, rows[0])
	pick := func(row int, names ...string) (cells []string) {
		for _, name := range names {
			for i, column := range export.Columns {
				if column == name {
					cells = append(cells, rows[row][i])
				}
			}
		}
		require.Len(t, cells, len(names))
		return cells
	}
	require.Equal(t, []string{"1", "2026-11-24T18:03:00.250Z", runName, "run.started", "", "weekly-report"}, pick(1, "seq", "time", "run", "type", "step", "what"))
	require.Equal(t, []string{"python3 render.py", "17"}, pick(7, "what", "bytes"))
	require.Equal(t, []string{"evil.example", "not in the plan"}, pick(8, "what", "result"))
	require.Equal(t, []string{"3", "2048", "950", "7", ab}, pick(10, "exit", "bytes", "ms", "of", "digest"))
	require.Equal(t, []string{"files.example.com:443"}, pick(13, "what"))
	require.Equal(t, []string{"report.pdf", "48213", ab}, pick(15, "what", "bytes", "digest"))
	require.Equal(t, []string{"succeeded", "3250"}, pick(28, "result", "ms"))
	require.Equal(t, []string{"29", "run.sealed"}, pick(29, "seq", "type"))
}

// What programs and services wrote comes out as text, in every column that they have a say in.
func TestTableOfHostileText(t *testing.T) {
	const formula = `=cmd|' /C calc'!A0`
	records := []record{
		story[0],
		{ledger.StepStarted, "-step", ledger.Data{"kind": "script", "skill": formula}},
		{ledger.CommandStarted, "-step", ledger.Data{"command": "a;" + formula + "\r\n" + formula, "bytes": 1}},
		{ledger.ArtifactStored, "-step", ledger.Data{"name": "@x\",\"" + formula, "bytes": 1, "sha256": formula}},
		{ledger.StepFinished, "-step", ledger.Data{"status": "failed", "error": "\uff1d1\x1b[2J"}},
		{ledger.RunFinished, "", ledger.Data{"outcome": formula, "error": "+1"}},
	}
	out, err := exported(t, "csv", written(t, records), nil)
	require.NoError(t, err)
	shown := strings.ReplaceAll(out, "\r\n", "\n")
	require.Equal(t, shown, term.Escape(shown), "a terminal acts on none of it")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(records)+2)
	for _, row := range rows {
		for _, cell := range row {
			require.NotRegexp(t, `(^|;)[=+\-@＝]`, cell)
		}
	}
}

func TestTableOfAnIncompleteLedger(t *testing.T) {
	out, err := exported(t, "csv", written(t, story[:7]), nil)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	last := rows[len(rows)-1]
	require.Equal(t, "ledger.incomplete", last[3])
	require.Contains(t, last[5], "there is no run.finished")
	require.Empty(t, last[0], "it is no entry")
}
