//go:build unix

// Package skills_test runs the scripts of the bundles beside it in a step's world.
package skills_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

// profile runs csv-profile on data with more, its other inputs.
func profile(t *testing.T, data string, more map[string]any) (worldtest.Result, *worldtest.World) {
	t.Helper()
	w := worldtest.New(t, "csv-profile")
	input := map[string]any{"file": w.File(t, "table.csv", []byte(data))}
	maps.Copy(input, more)
	return w.Run(t, input), w
}

func firstColumn(result worldtest.Result) map[string]any {
	return result.Value["columns"].([]any)[0].(map[string]any)
}

func zip(t *testing.T, data string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	_, err := w.Write([]byte(data))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return buf.String()
}

func TestTableThatCannotBeReadFailsTheStep(t *testing.T) {
	for name, tt := range map[string]struct{ data, want string }{
		"empty":            {"", "it is empty"},
		"blank lines":      {"\n\n\n", "it is empty"},
		"endless line":     {strings.Repeat("x", 5<<20), "a line is longer than 4 Mi characters"},
		"endless field":    {"a,b\n" + strings.Repeat("x", 5<<20), "a line is longer than 4 Mi characters"},
		"too many columns": {strings.Repeat("a,", 3000), "3,001 columns"},
		"cut gzip":         {zip(t, strings.Repeat("a,b\n1,2\n", 5000))[:60], "it is damaged"},
		"open quote":       {"\"a,b\n1,2\n", "its first row"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := profile(t, tt.data, nil)
			require.Equal(t, 1, result.Exit)
			require.Contains(t, result.Stderr, tt.want)
			require.NotContains(t, result.Stderr, "Traceback")
		})
	}
}

func TestMalformedRowsAreCountedAndLeftOut(t *testing.T) {
	result, w := profile(t, "a,b\n1,2\n3\n4,5,6\n\n7,8\n\"9,\n", nil)
	require.EqualValues(t, 2, result.Value["rows"])
	require.EqualValues(t, 1, result.Value["blank_lines"])
	require.Equal(t, map[string]any{"total": 3.0, "shown": []any{
		map[string]any{"line": 3.0, "fields": 1.0, "why": "1 field where the header has 2"},
		map[string]any{"line": 4.0, "fields": 3.0, "why": "3 fields where the header has 2"},
		map[string]any{"line": 7.0, "fields": 0.0, "why": "unexpected end of data"},
	}}, result.Value["malformed"])
	require.EqualValues(t, 7, firstColumn(result)["max"])
	require.Contains(t, w.Out(t, "profile.md"), "- line 4: 3 fields where the header has 2")

	result, _ = profile(t, "a,b\n"+strings.Repeat("x\n", 500), nil)
	require.Len(t, result.Value["malformed"].(map[string]any)["shown"], 20)
}

func TestUnclosedQuoteCostsNoMoreThanItSwallows(t *testing.T) {
	long := "a,b\n1,\"" + strings.Repeat("never closed\n", 200_000) + "2,3\n"
	result, _ := profile(t, long, nil)
	require.Positive(t, result.Value["malformed"].(map[string]any)["total"])
}

func TestTypes(t *testing.T) {
	tests := map[string]struct {
		values []string
		want   string
	}{
		"integers":               {[]string{"1", "-2", "0"}, "integer"},
		"decimals and integers":  {[]string{"1", "2.5", "1e3", ".5"}, "decimal"},
		"leading zeros":          {[]string{"01234", "12345"}, "code"},
		"more than a float":      {[]string{"12345678901234567890"}, "code"},
		"infinite":               {[]string{"1e999"}, "text"},
		"decimal commas":         {[]string{"\"1,5\""}, "text"},
		"booleans":               {[]string{"true", "False", "yes"}, "boolean"},
		"dates":                  {[]string{"2025-02-28", "2024-12-31"}, "date"},
		"no dates":               {[]string{"2025-13-01", "2025-02-32"}, "text"},
		"dates with a time":      {[]string{"2025-02-28", "2025-02-28T17:18:01.5Z", "2025-02-28 17:18"}, "datetime"},
		"nothing":                {[]string{"NULL", "n/a", "-", " "}, "empty"},
		"half and half":          {[]string{"1", "true"}, "mixed"},
		"numbers among text":     {[]string{"1", "a", "b"}, "text"},
		"nearly all are numbers": {append(strings.Split(strings.Repeat("7 ", 39)+"7", " "), "seven"), "integer"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := profile(t, "x,y\n"+strings.Join(tt.values, ",\n")+",\n", map[string]any{"delimiter": "comma"})
			require.Equal(t, tt.want, firstColumn(result)["type"])
		})
	}
}

func TestEncodingsAndDelimiters(t *testing.T) {
	utf16 := "\xff\xfe" + strings.Join(strings.Split("näme;b\n1;2\n", ""), "\x00") + "\x00"
	utf16 = strings.ReplaceAll(utf16, "ä", "\xe4")
	for name, tt := range map[string]struct{ data, encoding, delimiter, header string }{
		"plain":         {"näme,b\n1,2\n", "utf-8", "comma", "näme"},
		"mark":          {"\xef\xbb\xbfnäme;b\n1;2\n", "utf-8-sig", "semicolon", "näme"},
		"UTF-16":        {utf16, "utf-16", "semicolon", "näme"},
		"Windows":       {"n\xe4me\tb\n1\t2\n", "cp1252", "tab", "näme"},
		"pipes":         {"a, b|c, d\n1, 2|3\n", "utf-8", "pipe", "a, b"},
		"gzip":          {zip(t, "näme,b\r\n1,2\r\n"), "utf-8", "comma", "näme"},
		"one column":    {"näme\n1\n2\n", "utf-8", "comma", "näme"},
		"quoted commas": {"näme;b\n\"1,2\";3\n\"4,5\";6\n", "utf-8", "semicolon", "näme"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := profile(t, tt.data, nil)
			require.Equal(t, []any{tt.encoding, tt.delimiter}, []any{result.Value["encoding"], result.Value["delimiter"]})
			require.Equal(t, tt.header, firstColumn(result)["name"])
			require.Positive(t, result.Value["rows"])
		})
	}
}

func TestBytesOfAnotherEncodingAreCounted(t *testing.T) {
	result, _ := profile(t, "a,b\n"+strings.Repeat("é,1\n", 30_000)+"\xff,2\n", nil)
	require.EqualValues(t, 1, result.Value["undecodable_lines"])
	require.Contains(t, result.Value["remarks"], "Bytes that are not utf-8: in 1 line.")
}

func TestFigures(t *testing.T) {
	var data strings.Builder
	data.WriteString("n,word\n")
	for i := 100; i >= 1; i-- {
		fmt.Fprintf(&data, "%d,%s\n", i, []string{"a", "b", "b"}[i%3])
	}
	result, w := profile(t, data.String(), map[string]any{"top": 1})
	n := firstColumn(result)
	require.Equal(t, []any{1.0, 50.5, 100.0, 100.0, true}, []any{n["min"], n["mean"], n["max"], n["distinct"], n["unique"]})
	require.Contains(t, w.Out(t, "profile.md"), "p5 5, p25 25, p50 50, p75 75, p95 95; deviation 28.8661.")
	require.Contains(t, w.Out(t, "profile.json"), `"value": "b",`)
	require.NotContains(t, w.Out(t, "profile.json"), `"value": "a",`, "top is 1")
}

func TestFiguresBeyondAFloatStayJSON(t *testing.T) {
	result, _ := profile(t, "a\n1e308\n-1e308\n1.5e308\n", nil)
	require.InEpsilon(t, 1.5e308, firstColumn(result)["max"], 1e-9)
}

func TestNoHeader(t *testing.T) {
	result, _ := profile(t, "1,2\n3,4\n", map[string]any{"header": false})
	require.EqualValues(t, 2, result.Value["rows"])
	require.Equal(t, "column 1", firstColumn(result)["name"])
}

func TestRemarks(t *testing.T) {
	result, _ := profile(t, "k,k,one,none,few, spaced\n1,1,x,,,\" a\"\n2,1,x,NA,,b\n3,2,x,,y,b\n", nil)
	require.Equal(t, []any{
		`The header has "k" 2 times.`, `"k" is different in every row: it can serve as a key.`, `"one" has one value only.`, `"none" is empty.`,
		`"few" is empty in 67% of the rows.`, `"spaced" has white space around 1 value.`,
	}, result.Value["remarks"])
}

func TestValuesAreInertInMarkdown(t *testing.T) {
	_, w := profile(t, "`<b>`|x,b\n\"<script>`|`</script>\",\x1b[2J\n\"<script>`|`</script>\",1\n", map[string]any{"delimiter": "comma"})
	report := w.Out(t, "profile.md")
	require.Contains(t, report, "| ``<script>`\\|`</script>`` |")
	require.NotContains(t, report, "\x1b")
}

func TestProfileIsTheSameEachTime(t *testing.T) {
	var data strings.Builder
	data.WriteString("a,b,c\n")
	for i := range 3000 {
		fmt.Fprintf(&data, "%d,%.3f,%c\n", i*i%500, math.Sin(float64(i)), 'a'+rune(i%26))
	}
	first, w := profile(t, data.String(), nil)
	again, w2 := profile(t, zip(t, data.String()), nil)
	require.Equal(t, first.Stdout, again.Stdout)
	require.Equal(t, w.Out(t, "profile.md"), w2.Out(t, "profile.md"))
	require.Equal(t, w.Out(t, "profile.json"), w2.Out(t, "profile.json"))
}

func TestManyColumnsStaySmall(t *testing.T) {
	head := strings.TrimSuffix(strings.Repeat(strings.Repeat("n", 300)+",", 500), ",")
	row := strings.TrimSuffix(strings.Repeat("\"  v\",", 500), ",")
	result, _ := profile(t, head+"\n"+strings.Repeat(row+"\n", 20), nil)
	require.EqualValues(t, 500, result.Value["columns_total"])
	require.Less(t, len(result.Stdout), 64<<10)
}
