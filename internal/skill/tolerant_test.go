package skill_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// Read with one warning, at the right line, with the right description.
func TestToleratedWithAWarning(t *testing.T) {
	const d = "description: Advice on tea."
	cases := []struct {
		name, text, rule string
		line             int
		says, desc       string
	}{
		{"byte order mark", "\ufeff" + fields("name: my-skill", d), skill.RuleFrontMatter, 1, "byte order mark", ""},
		{"blank lines first", "\n \n" + fields("name: my-skill", d), skill.RuleFrontMatter, 3, "stand before", ""},
		{"comment first", "<!-- made\nby hand -->\n" + fields("name: my-skill", d), skill.RuleFrontMatter, 3, "stand before", ""},
		{
			"unquoted colon", fields("name: my-skill", "description: Commands: init, status"), skill.RuleYAML, 3,
			"quote this value (column 14)", "Commands: init, status",
		},
		{
			"unquoted colon over lines", fields("name: my-skill", `description: Say "hi": now`, "  and \\ later", "license: MIT"),
			skill.RuleYAML, 3, "quote this value", `Say "hi": now and \ later`,
		},
		{"unclosed bracket", fields("name: my-skill", "description: [beta] Tea"), skill.RuleYAML, 3, "quote this value", "[beta] Tea"},
		{
			"text after a block header", fields("name: my-skill", "description: >- Advice", "  on tea."), skill.RuleYAML, 3,
			"begin the text on the next line", "",
		},
		{"no name", fields(d), skill.RuleName, 2, "name is missing", ""},
		{"underscore", fields("name: my_skill", d), skill.RuleName, 2, "other than letters", ""},
		{"no description", fields("name: my-skill"), skill.RuleDescription, 2, "description is missing", "-"},
		{"metadata a list", fields("name: my-skill", d, "metadata:", "  - x"), skill.RuleField, 5, "not a mapping", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := load(t, bundleFS("SKILL.md", c.text))
			require.NotEmpty(t, b.Findings)
			f := b.Findings[0]
			require.Equal(t, skill.Finding{Rule: c.rule, Severity: skill.SeverityWarning, File: "my-skill/SKILL.md", Line: c.line, Message: f.Message}, f)
			require.Contains(t, f.Message, c.says)
			switch c.desc {
			case "":
				require.Equal(t, "Advice on tea.", b.Description)
			case "-":
				require.Empty(t, b.Description)
			default:
				require.Equal(t, c.desc, b.Description)
			}
			require.Equal(t, "Text.\n", b.Body)
			lines := strings.Split(c.text, "\n")
			require.Equal(t, "Text.", lines[b.BodyLine-1])
		})
	}
}

// What no reading can save, with the place.
func TestRefused(t *testing.T) {
	u16 := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(skillMD("", ""))) {
		u16 = binary.LittleEndian.AppendUint16(u16, unit)
	}
	cases := []struct {
		name, text, rule string
		line, col        int
		says             string
	}{
		{"UTF-16", string(u16), skill.RuleFrontMatter, 1, 1, "UTF-16"},
		{"UTF-16 without a mark", string(u16[2:]), skill.RuleFrontMatter, 1, 1, "UTF-16"},
		{"Latin-1", skillMD("", "é\ncaf\xe9"), skill.RuleFrontMatter, 6, 4, "0xe9"},
		{"no front matter", "\n# Tea\n", skill.RuleFrontMatter, 2, 1, "does not begin"},
		{"not closed", "\n---\nname: my-skill\n --- \n", skill.RuleFrontMatter, 2, 1, "not closed"},
		{"broken beyond quoting", skillMD("license: MIT\n  oops: x\n", ""), skill.RuleYAML, 5, 0, "mapping values"},
		{"key twice", skillMD("license: MIT\nlicense: MIT\n", ""), skill.RuleYAML, 5, 1, "first on line 4"},
		{"key twice in metadata", skillMD("metadata:\n  a: 1\n  a: 2\n", ""), skill.RuleYAML, 6, 3, `"a"`},
		{"key twice after quoting", fields("name: my-skill", "description: a: b", "name: x"), skill.RuleYAML, 4, 1, `"name"`},
		{"anchor", skillMD("metadata: &m\n  a: b\n", ""), skill.RuleYAML, 4, 11, "anchors"},
		{"key that is a list", skillMD("? [a, b]\n: c\n", ""), skill.RuleYAML, 4, 3, "not plain text"},
		{"deep", skillMD("metadata: "+strings.Repeat("[", 70)+strings.Repeat("]", 70)+"\n", ""), skill.RuleYAML, 4, 75, "64 levels"},
		{"skill_kind", skillMD("skill_kind: magic\n", ""), skill.RuleField, 4, 13, "magic"},
		{"schema that is a text", skillMD("input_schema: string\n", ""), skill.RuleSchema, 4, 15, "not a mapping"},
		{"schema with a large number", skillMD("input_schema:\n  maximum: 9007199254740993\n", ""), skill.RuleSchema, 5, 3, "2^53"},
		{"schema without a JSON form", skillMD("output_schema:\n  maximum: .nan\n", ""), skill.RuleSchema, 5, 12, "no place in JSON"},
		{"glob", skillMD("metadata:\n  joy.raw: \"[a\"\n", ""), skill.RuleField, 5, 12, "joy.raw"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := oneFault(t, bundleFS("SKILL.md", c.text), skill.Options{})
			require.Equal(t, c.rule, f.Code)
			require.Equal(t, [2]int{c.line, c.col}, [2]int{f.Line, f.Col}, "%v", f)
			require.ErrorContains(t, f, c.says)
		})
	}
}

func TestFieldsOfTheBundle(t *testing.T) {
	b := load(t, bundleFS("SKILL.md", skillMD(`license: [MIT, Apache-2.0]
compatibility: needs tea
metadata: {author: somebody, nested: {requires: {bins: [jq, 7]}}, none: ~}
allowed-tools: Read, Bash(git add:*) Grep
tools: [Write, 3]
allowed_tools: [slack.reply_message, Bash]
skill_kind: instruction
input_schema: {type: object, required: [n], properties: {n: {type: integer, maximum: 0x10, multipleOf: 0.50}}}
output_schema:
  type: object
version: 2
`, "One.\r\nTwo.\n")))
	require.Equal(t, "MIT, Apache-2.0", b.License)
	require.Equal(t, "needs tea", b.Compatibility)
	require.Equal(t, map[string]any{
		"author": "somebody", "none": "",
		"nested": map[string]any{"requires": map[string]any{"bins": []any{"jq", "7"}}},
	}, b.Metadata)
	require.Equal(t, []string{"Read", "Bash(git add:*)", "Grep", "Write", "3", "Bash"}, b.AllowedTools)
	require.Equal(t, []string{"slack.reply_message"}, b.Actions)
	require.Equal(t, skill.Instruction, b.SkillKind)
	require.JSONEq(t, `{"type":"object","required":["n"],"properties":{"n":{"type":"integer","maximum":16,"multipleOf":0.5}}}`,
		string(b.InputSchema))
	require.Equal(t, `{"type":"object"}`, string(b.OutputSchema))
	require.Equal(t, "One.\nTwo.\n", b.Body)
	require.Equal(t, []skill.Finding{{Rule: skill.RuleField, Severity: skill.SeverityNote, File: "my-skill/SKILL.md", Line: 14, Message: "not read: version"}}, b.Findings)
	require.False(t, b.StrictValid())
}

// A name that cannot be a directory gives way to the directory's, or is refused where there is none.
func TestNamesThatCannotBeDirectories(t *testing.T) {
	for _, name := range []string{"../../etc", "a/b", ".git", "aux", `a\u0007`, strings.Repeat("茶", 100), "", "a."} {
		text := fields(`name: "`+name+`"`, "description: ok")
		b := load(t, bundleFS("SKILL.md", text))
		require.Equal(t, "my-skill", b.Name)
		require.Equal(t, []string{skill.RuleName}, rules(b.Findings))
		require.NotEmpty(t, b.Violations)

		m := fstest.MapFS{"SKILL.md": &fstest.MapFile{Data: []byte(text)}}
		_, err := skill.Load(m, ".", skill.Options{})
		require.ErrorContains(t, err, "SKILL.md:2:1: name")
		require.ErrorContains(t, err, "cannot be a directory")
	}
}
