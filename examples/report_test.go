//go:build unix

package examples_test

import (
	"archive/tar"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/worldtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// render runs all three steps on one archive, as the plan wires them, and returns what they left.
func render(t *testing.T, data []byte) (result worldtest.Result, markdown, html string) {
	t.Helper()
	counted, _ := run(t, "count", data)
	linted, _ := run(t, "lint", data)
	require.Equal(t, 0, counted.Exit+linted.Exit, counted.Stderr+linted.Stderr)
	w := worldtest.New(t, skills+"render")
	result = w.Run(t, map[string]any{"count": counted.Value, "lint": linted.Value})
	require.Equal(t, 0, result.Exit, result.Stderr)
	return result, w.Out(t, "report.md"), w.Out(t, "report.html")
}

func shop(t *testing.T) []byte {
	t.Helper()
	return archive(t,
		member{name: "shop/README.md", body: "# Shop\n\nSee [the guide](docs/guide.md#set-up), [prices](docs/prices.md) and [us](https://example.com).\n"},
		member{name: "shop/docs/guide.md", body: "# Guide\n\n## Setup\n\n```sh\n[not](a-link.md)\n```\n"},
		member{name: "shop/cmd/shop/main.go", body: "// Package main sells.\npackage main\n\nimport \"fmt\"\n\n/* TODO: ask\n   the customer */\nfunc main() { fmt.Println(\"sold\") }\n"},
		member{name: "shop/cmd/shop/main_test.go", body: "package main\r\n"},
		member{name: "shop/tools/run", body: "#!/bin/sh\n# runs\nexec true \n", mode: 0o755},
		member{name: "shop/tools/a|b `c`.py", body: "# one | two\nprint(1)  # FIXME: `tick` <b>\n"},
		member{name: "shop/logo.png", body: "\x89PNG\r\n\x1a\n\x00\x00"},
		member{name: "shop/latest", kind: tar.TypeSymlink, link: "releases/2"},
	)
}

func TestReport(t *testing.T) {
	result, markdown, html := render(t, shop(t))
	require.Equal(t, "2 errors, 3 warnings, 3 notes", result.Value["verdict"])
	for name, got := range map[string]string{"report.md": markdown, "report.html": html} {
		path := filepath.Join("testdata", name)
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(want), got, "run go test ./examples -update and read the difference")
	}
}

func TestReportIsTheSameEachTime(t *testing.T) {
	plain := shop(t)
	first, markdown, html := render(t, plain)
	for _, data := range [][]byte{plain, zip(t, plain)} {
		again, markdown2, html2 := render(t, data)
		require.Equal(t, first.Stdout, again.Stdout)
		require.Equal(t, markdown, markdown2)
		require.Equal(t, html, html2)
	}
}

func TestReportOfNothing(t *testing.T) {
	result, markdown, html := render(t, archive(t))
	require.Equal(t, "no errors, no warnings, no notes", result.Value["verdict"])
	require.Equal(t, true, result.Value["complete"])
	require.Contains(t, markdown, "0 files · 0 lines · 0 B")
	require.Contains(t, html, "0 errors")
}

func TestReportOfOneBinaryFile(t *testing.T) {
	result, markdown, _ := render(t, files(t, "a", "\x00"))
	require.EqualValues(t, 1, result.Value["files"])
	require.NotContains(t, markdown, "## Languages")
}

// Whatever a stranger names a file or writes in it, a browser and a Markdown reader find nothing to act on.
func TestStrangersTextIsInert(t *testing.T) {
	for _, evil := range []string{
		`<script>alert(1)<script>`, `"><img src=x onerror=alert(1)>`, `'onmouseover='alert(1)`, "</style></code><h1>x", "&lt;b&gt;", "`` ` <b>", "| a | b |\r",
	} {
		name := strings.ReplaceAll(evil, "/", "_")
		_, markdown, html := render(t, files(t, "p/"+name+".md", "[a](<"+name+">)\nTODO: "+evil+"\n", "p/"+name+"/x.go", "// TODO: "+evil+"\n"))
		require.NotContains(t, html, "<script")
		require.NotContains(t, html, "<img")
		require.NotContains(t, html, "<h1>x")
		require.NotContains(t, html, "'onmouseover")
		require.Equal(t, 1, strings.Count(html, "</style>"))
		for _, line := range strings.Split(markdown, "\n") {
			require.NotContains(t, withoutCode(line), "<", "outside of code spans: %q", line)
		}
	}
}

// withoutCode takes the code spans out of a line, as CommonMark pairs runs of backticks.
func withoutCode(line string) string {
	var kept strings.Builder
	for {
		start := strings.IndexByte(line, '`')
		if start < 0 {
			return kept.String() + line
		}
		kept.WriteString(line[:start])
		line = line[start:]
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		rest := line[len(run):]
		end := -1
		for at := 0; ; {
			next := strings.Index(rest[at:], run)
			if next < 0 {
				break
			}
			at += next
			length := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
			if length == len(run) {
				end = at
				break
			}
			at += length
		}
		if end < 0 {
			kept.WriteString(run)
			line = rest
			continue
		}
		line = rest[end+len(run):]
	}
}

func TestReportSaysWhatWasNotRead(t *testing.T) {
	counted, _ := run(t, "count", archive(t, member{name: "a.go", body: "x\n"}, member{name: "tty", kind: tar.TypeChar}))
	linted, _ := run(t, "lint", files(t, "a", "#!/bin/zsh\n"))
	counted.Value["incomplete"] = "more than 512 MiB unpacked"
	w := worldtest.New(t, skills+"render")
	result := w.Run(t, map[string]any{"count": counted.Value, "lint": linted.Value})
	require.Equal(t, false, result.Value["complete"])
	for _, report := range []string{w.Out(t, "report.md"), w.Out(t, "report.html")} {
		require.Contains(t, report, "more than 512 MiB unpacked")
		require.Contains(t, report, "Devices, pipes and sparse files: 1.")
		require.Contains(t, report, "Scripts for a shell that was not at hand: 1.")
	}
}

func TestResultsStaySmall(t *testing.T) {
	var pairs []string
	for i := range 2000 {
		dir := strings.Repeat(string(rune('a'+i%26)), 1+i/26)
		pairs = append(pairs, dir+"/"+strings.Repeat("n", 150)+".go", strings.Repeat("// TODO: "+strings.Repeat("t", 300)+" \r\n", 3))
	}
	data := files(t, pairs...)
	for _, skill := range readers {
		result, _ := run(t, skill, data)
		require.Less(t, len(result.Stdout), 48<<10)
		require.True(t, json.Valid([]byte(result.Stdout)))
	}
}
