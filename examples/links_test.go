//go:build unix

package examples_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBrokenLinks(t *testing.T) {
	tests := map[string]struct {
		page string
		want []string // "line: text"; empty: no finding
	}{
		"file":               {"[a](other.md) [b](none.md)", []string{"1: none.md: no such file"}},
		"directory":          {"[a](../) [b](sub/) [c](sub) [d](subs/)", []string{"1: subs/: no such file"}},
		"image":              {"![a](pic.png)\n![b](nopic.png 'title')", []string{"2: nopic.png: no such file"}},
		"image in a link":    {"[![a](nopic.png)](none.md)", []string{"1: none.md: no such file", "1: nopic.png: no such file"}},
		"angle brackets":     {"[a](<two words.md>) [b](<no words.md>)", []string{"1: no words.md: no such file"}},
		"percent":            {"[a](two%20words.md) [b](%2e%2e/top.md)", nil},
		"parentheses":        {"[a](paren_(x).md)", nil},
		"query":              {"[a](other.md?plain=1)", nil},
		"from the top":       {"[a](/docs/other.md) [b](/docs/none.md) [c](/blog/post)", []string{"1: /docs/none.md: no such file"}},
		"leaves the tree":    {"[a](../../../x)", []string{"1: ../../../x: leaves the tree"}},
		"other case":         {"[a](Other.md)", []string{"1: Other.md: no such file, but docs/other.md is there"}},
		"ending left out":    {"[a](other)", []string{"1: other: no such file, but other.md is there"}},
		"no target":          {"[a]()", []string{"1: a link without a target"}},
		"elsewhere":          {"[a](https://example.com/x) [b](mailto:a@b.c) [c](//example.com) <https://x.y>", nil},
		"template":           {"[a]({{ url }}) [b](${X}/y)", nil},
		"heading":            {"# A b\n[a](#a-b) [b](#none) [c](other.md#some-c) [d](other.md#none)", []string{"2: #none: no such heading", "2: other.md#none: no such heading in other.md"}},
		"heading twice":      {"# A\n# A\n[a](#a-1) [b](#a-2)", []string{"3: #a-2: no such heading"}},
		"heading with code":  {"## The `x_y` of *it*: [why](other.md)?\n[a](#the-x_y-of-it-why)", nil},
		"heading underlined": {"Long\n----\n[a](#long)", nil},
		"heading in German":  {"# Über Maße\n[a](#über-maße) [b](#%C3%BCber-ma%C3%9Fe)", nil},
		"anchor in HTML":     {"<a name=\"Here\"></a>\n[a](#here)", nil},
		"heading id":         {"# A {#own}\n[a](#own)", nil},
		"line of code":       {"[a](code.go#L10)", nil},
		"reference":          {"[a][x] [b][y] [x][]\n\n[x]: other.md", []string{"1: [y] has no definition"}},
		"definition":         {"[x]: none.md \"title\"", []string{"1: none.md: no such file"}},
		"not a reference":    {"a[i][j] and [tab][tab] and [^1][^2]", nil},
		"HTML":               {"<img alt='' src=\"nopic.png\">\n<a href='other.md'>", []string{"1: nopic.png: no such file"}},
		"escaped":            {"\\[a\\](none.md) [b](other\\.md)", nil},
		"code span":          {"`[a](none.md)` ``[b](none.md) ` `` [c](none.md)", []string{"1: none.md: no such file"}},
		"fence":              {"```md\n[a](none.md)\n~~~\n```\n[b](gone.md)", []string{"5: gone.md: no such file"}},
		"fence in a list":    {"- x\n  ````\n  ```\n  [a](none.md)\n  ````\n- [b](gone.md)", []string{"6: gone.md: no such file"}},
		"fence left open":    {"~~~\n[a](none.md)", nil},
		"indented code":      {"text\n\n    [a](none.md)\n\n- item\n\n    [b](gone.md)", []string{"7: gone.md: no such file"}},
		"comment":            {"<!-- [a](none.md)\n[b](none.md) --> [c](gone.md)", []string{"2: gone.md: no such file"}},
		"front matter":       {"---\nsee: \"[a](none.md)\"\n---\n[b](gone.md)", []string{"4: gone.md: no such file"}},
		"CRLF":               {"# A b\r\n[a](#a-b)\r\n[b](none.md)\r\n", []string{"3: none.md: no such file"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := run(t, "lint", files(t,
				"top.md", "", "docs/page.md", tt.page, "docs/other.md", "# Some C\n", "docs/pic.png", "\x00", "docs/two words.md", "",
				"docs/sub/x.go", "", "docs/paren_(x).md", "", "docs/code.go", "",
			))
			want := []string{}
			for _, text := range tt.want {
				want = append(want, "docs/page.md:"+text)
			}
			require.Equal(t, want, found(result, "broken-link"))
		})
	}
}

// A pattern that backtracks would take minutes on these; a step's time is not a stranger's to spend.
func TestHostileMarkdownTakesNoLonger(t *testing.T) {
	for name, page := range map[string]string{
		"backticks":   strings.Repeat("` `` ", 200_000),
		"brackets":    strings.Repeat("[", 500_000) + strings.Repeat("](", 250_000),
		"parentheses": "[a](" + strings.Repeat("(", 500_000),
		"labels":      strings.Repeat("[a][b", 100_000),
		"hashes":      "# " + strings.Repeat("#", 500_000) + "x",
		"comments":    strings.Repeat("<!-- ", 100_000),
		"tags":        strings.Repeat("<a ", 100_000),
		"short lines": strings.Repeat("[a](b) `c` [d][e] <a href=\"f\">\n", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			result, _ := run(t, "lint", files(t, "a.md", page, "b.md", strings.ReplaceAll(page, " ", "\n")))
			require.Equal(t, 0, result.Exit, result.Stderr)
			require.Less(t, result.CPU, 20*time.Second)
		})
	}
}
