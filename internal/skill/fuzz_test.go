package skill_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/skill"
)

// Whatever a stranger writes into SKILL.md is read to the end or refused with a place inside the file.
func FuzzFrontMatter(f *testing.F) {
	for _, s := range []string{
		skillMD("", "Tea.\n"), "\ufeff" + skillMD("", ""), "<!-- x -->\n\n" + skillMD("", ""), "---\n---\n", "---", "",
		fields("name: a", "description: Commands: init, status"), fields("name: a", "description: >- x", "  y"),
		skillMD("metadata: {joy.entry: x.py, joy.raw: \"**/*.bat\"}\nallowed-tools: [Read]\n", "```sh\n./x.py\n```\n"),
		skillMD("input_schema: {maximum: 1e400, minimum: .inf}\n", ""), skillMD("a: &a [*a]\n", ""), skillMD("<<: {a: b}\n", ""),
		skillMD("? {a: b}\n: c\n", ""), "---\r\nname: a\r\n---\r\n", "\xff\xfe-\x00", fields("name: \"a", "description: b"),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m := bundleFS("SKILL.md", text, "x.py", "#!/usr/bin/env python3\n")
		b, err := skill.Load(m, "my-skill", skill.Options{})
		lines := strings.Count(text, "\n") + 1
		if err != nil {
			require.Nil(t, b)
			for _, e := range fault.All(err) {
				require.NotEmpty(t, e.Code, "%v", e)
				require.LessOrEqual(t, e.Line, lines+1)
			}
			return
		}
		require.NotEmpty(t, b.Name)
		require.LessOrEqual(t, b.BodyLine, lines+1)
		require.NotEmpty(t, b.Needs().Evidence)
		_, err = skill.Load(m, "my-skill", skill.Options{Strict: true})
		require.Equal(t, b.StrictValid(), err == nil, "%v", err)
	})
}

// Whatever stands in the text, the files and the description is judged to the end, twice the same, with places that are
// there.
func FuzzNeeds(f *testing.F) {
	for _, s := range []string{
		"Run x.py.\n```sh\ncurl https://api.tea.dev/$X \\\n", "````\n```\n~~~\n<!-- \n>>> ```py", "[a](b.md [c](\"d", "“x”\"`/a `b", "mcp__a__b mcp____ A:b-c `A:b-c`",
		"| ~/a/<b>.md {c}/$d | /e/f/g ./ ../ ./. ~/ http:// https://", "\u200b\u202e\U000e0041\xff\x00", "# \n## setup\n#### optional\n", "1. 2) - * > read the file",
	} {
		f.Add(s, "Build tea via the Kettle MCP \"web search\".", "import requests\nx = 'https://api.tea.dev'\n")
	}
	f.Fuzz(func(t *testing.T, body, desc, script string) {
		text := "---\nname: my-skill\ndescription: " + strconv.Quote(desc) + "\n---\n" + body
		b, err := skill.Load(bundleFS("SKILL.md", text, "x.py", script, "references/a.md", body), "my-skill", skill.Options{})
		if err != nil {
			return
		}
		n := b.Needs()
		require.Equal(t, n, b.Needs())
		for _, e := range n.Evidence {
			require.NotEmpty(t, e.Rule)
			data, ok := b.Contents[strings.TrimPrefix(e.File, "my-skill/")]
			require.True(t, ok, e.File)
			require.LessOrEqual(t, e.Line, strings.Count(string(data), "\n")+2)
		}
	})
}
