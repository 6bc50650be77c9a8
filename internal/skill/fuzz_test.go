package skill_test

import (
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
		_, evidence := b.Sandbox()
		require.NotEmpty(t, evidence)
		_, err = skill.Load(m, "my-skill", skill.Options{Strict: true})
		require.Equal(t, b.StrictValid(), err == nil, "%v", err)
	})
}
