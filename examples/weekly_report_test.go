//go:build unix

package examples_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

var charts = []string{"trend.svg", "days.svg", "categories.svg"}

// step gives figures to a skill that needs nothing else.
func step(t *testing.T, skill string, sales map[string]any) (worldtest.Result, *worldtest.World) {
	t.Helper()
	w := worldtest.New(t, weekly+skill)
	return w.Run(t, map[string]any{"sales": sales}), w
}

func TestWeeklyReport(t *testing.T) {
	result, w := step(t, "write-report", sales(t))
	require.Equal(t, 0, result.Exit, result.Stderr)
	require.Equal(t, "Net revenue rose 22.4% on the week before, to €198,812.", result.Value["headline"])
	path := filepath.Join("testdata", "weekly.md")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(w.Out(t, "report.md")), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), w.Out(t, "report.md"), "run go test ./examples -update and read the difference")
}

// thin are figures of one line, with nothing to compare with.
func thin(t *testing.T, row string) map[string]any {
	t.Helper()
	result := aggregate(t, lines(row), week)
	require.Equal(t, 0, result.Exit, result.Stderr)
	return result.Value
}

func TestWeeksWithLittleInThem(t *testing.T) {
	for name, tt := range map[string]struct {
		row  string
		says []string
	}{
		"one line":       {line("1", "1", "12.50", "0", "shipped"), []string{"Net revenue came to €13.", "| 1 ", "no week before to compare with"}},
		"all returned":   {line("1", "1", "12.50", "0", "returned"), []string{"Net revenue came to €0.", "100.0%"}},
		"all cancelled":  {line("1", "1", "12.50", "0", "cancelled"), []string{"Net revenue came to €0.", "€0.00"}},
		"all given away": {line("1", "1", "12.50", "100", "shipped"), []string{"Net revenue came to €0."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			figures := thin(t, tt.row)
			result, w := step(t, "write-report", figures)
			require.Equal(t, 0, result.Exit, result.Stderr)
			for _, words := range tt.says {
				require.Contains(t, w.Out(t, "report.md"), words)
			}
			require.NotContains(t, w.Out(t, "report.md"), "nan")
			result, w = step(t, "draw-charts", figures)
			require.Equal(t, 0, result.Exit, result.Stderr)
			for _, chart := range charts {
				drawn(t, w.Out(t, chart))
			}
			result, _ = step(t, "fill-summary", figures)
			require.Equal(t, 0, result.Exit, result.Stderr)
		})
	}
}

// More came back than was sold: no real shop's figures do that, and no chart may leave its page for it.
func TestRevenueBelowZero(t *testing.T) {
	figures := sales(t)
	for _, list := range []string{"weeks", "days", "categories"} {
		for i, entry := range figures[list].([]any) {
			if i%2 == 0 {
				entry := entry.(map[string]any)
				entry["net_cents"] = -entry["net_cents"].(float64)
			}
		}
	}
	result, w := step(t, "draw-charts", figures)
	require.Equal(t, 0, result.Exit, result.Stderr)
	for _, chart := range charts {
		drawn(t, w.Out(t, chart))
	}
	require.Contains(t, w.Out(t, "days.svg"), ">−")
}

func TestChartsSayWhatTheyShow(t *testing.T) {
	result, w := step(t, "draw-charts", sales(t))
	require.Equal(t, 0, result.Exit, result.Stderr)
	for chart, words := range map[string][]string{
		"trend.svg":      {"Net revenue by week", "thousand euros, 2025-W47 to 2026-W47", "198.8", "a year ago: 146.3"},
		"days.svg":       {"Net revenue by day", "thousand euros", "this week", "the week before", "Mon 16 Nov", "Sun 22 Nov"},
		"categories.svg": {"Net revenue by category", "thousand euros", "Jackets", "+34%"},
	} {
		texts := drawn(t, w.Out(t, chart))
		for _, text := range words {
			require.Contains(t, texts, text, chart)
		}
		again, v := step(t, "draw-charts", sales(t))
		require.Equal(t, 0, again.Exit)
		require.Equal(t, w.Out(t, chart), v.Out(t, chart))
	}
}

// drawn requires that a chart is XML, holds nothing that acts, and stays on its page. It returns the texts.
func drawn(t *testing.T, document string) []string {
	t.Helper()
	var texts []string
	var width, height float64
	decoder := xml.NewDecoder(strings.NewReader(document))
	element := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			require.NotEmpty(t, texts)
			return texts
		}
		require.NoError(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			element = token.Name.Local
			require.Contains(t, []string{"svg", "title", "text", "rect", "line", "path", "circle"}, element)
			for _, a := range token.Attr {
				if a.Name.Local == "viewBox" {
					size := strings.Fields(a.Value)
					width, height = parse(t, size[2]), parse(t, size[3])
				}
				onPage(t, element, a, width, height)
			}
		case xml.EndElement:
			element = ""
		case xml.CharData:
			if element == "text" {
				texts = append(texts, string(token))
			}
		}
	}
}

var digits = regexp.MustCompile(`-?[0-9.]+`)

func onPage(t *testing.T, element string, a xml.Attr, width, height float64) {
	t.Helper()
	switch a.Name.Local {
	case "x", "x1", "x2", "cx":
		require.True(t, parse(t, a.Value) >= 0 && parse(t, a.Value) <= width, "%s %s=%s", element, a.Name.Local, a.Value)
	case "y", "y1", "y2", "cy":
		require.True(t, parse(t, a.Value) >= 0 && parse(t, a.Value) <= height, "%s %s=%s", element, a.Name.Local, a.Value)
	case "width", "height":
		if element == "rect" {
			require.GreaterOrEqual(t, parse(t, a.Value), 0.0)
		}
	case "d":
		for i, n := range digits.FindAllString(a.Value, -1) {
			require.True(t, parse(t, n) >= 0 && parse(t, n) <= []float64{width, height}[i%2], "%s d=%s", element, n)
		}
	}
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}

// Whatever the export calls its products and countries, a reader of the report finds nothing to act on.
func TestWeeklyNamesAreInert(t *testing.T) {
	special := regexp.MustCompile("[\\\\`*_\\[\\]<>|&!#~^$@{}]")
	for _, evil := range []string{
		`<script>alert(1)</script>`, `![x](/etc/passwd)`, "[a](http://x.y) `b` **c**", "a | b |", `\`, "&lt;b&gt; {{headline}}", "]]>", "\x1b[2J \u202e",
	} {
		name := `"` + strings.ReplaceAll(evil, `"`, `""`) + `"`
		row := "1,1,2026-11-18," + strings.Join([]string{name, name, name, name}, ",") + ",1,1.00,0,shipped"
		figures := thin(t, row)
		result, w := step(t, "write-report", figures)
		require.Equal(t, 0, result.Exit, result.Stderr)
		_, tables, _ := strings.Cut(w.Out(t, "report.md"), "## Channels")
		for _, cells := range strings.Split(tables, "\n") {
			if strings.HasPrefix(cells, "| ") {
				bare := regexp.MustCompile(`\\.`).ReplaceAllString(cells, "")
				bare = strings.ReplaceAll(strings.ReplaceAll(bare, " | ", ""), "**", "")
				require.False(t, special.MatchString(strings.Trim(bare, "| ")), cells)
			}
		}
		require.NotContains(t, w.Out(t, "report.md"), "\x1b")
		_, w = step(t, "draw-charts", figures)
		drawn(t, w.Out(t, "categories.svg"))
	}
}
