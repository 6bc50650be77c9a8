package skill_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/skill"
)

// fields is a whole front matter.
func fields(lines ...string) string { return "---\n" + strings.Join(lines, "\n") + "\n---\nText.\n" }

// Verdicts under Strict, where an empty rule means valid. Each input changes one thing of a good file.
func TestStrictVerdicts(t *testing.T) {
	const name, desc = "name: my-skill", "description: ok"
	cases := []struct{ name, text, rule string }{
		{"good", fields(name, desc), ""},
		{"no text", "---\nname: my-skill\ndescription: ok\n---\n", ""},
		{"nothing after the closing mark", "---\nname: my-skill\ndescription: ok\n---", ""},
		{"CRLF", "---\r\nname: my-skill\r\ndescription: ok\r\n---\r\nText.\r\n", ""},
		{"blank after the opening mark", "--- \nname: my-skill\ndescription: ok\n---\n", ""},
		{"mark inside a value", fields(name, "description: one --- two"), ""},
		{"comment", fields("# about tea", name, desc), ""},
		{"folded text", fields(name, "description: >", "  one", "  two"), ""},
		{"plain text over lines", fields(name, "description: one", "  two"), ""},
		{"a second mark in the text", fields(name, desc) + "---\nmore: text\n---\n", ""},
		{"list in metadata", fields(name, desc, "metadata:", "  tags:", "    - a"), ""},
		{"nested metadata", fields(name, desc, "metadata:", "  a:", "    b: c"), ""},
		{"metadata a text", fields(name, desc, "metadata: x"), ""},
		{"metadata empty", fields(name, desc, "metadata:"), ""},
		{"tools with commas", fields(name, desc, "allowed-tools: Read, Bash"), ""},
		{"tools in a list", fields(name, desc, "allowed-tools:", "  - Read"), ""},
		{"license a list", fields(name, desc, "license:", "  - MIT"), ""},
		{"blanks around the name", fields(`name: " my-skill "`, desc), ""},
		{"1024 characters", fields(name, "description: "+strings.Repeat("x", 1024)), ""},
		{"1024 emoji", fields(name, "description: "+strings.Repeat("🍵", 1024)), ""},
		{"compatibility of 500", fields(name, desc, "compatibility: "+strings.Repeat("x", 500)), ""},
		{"compatibility empty", fields(name, desc, `compatibility: ""`), ""},

		{"byte order mark", "\ufeff" + fields(name, desc), skill.RuleFrontMatter},
		{"blank line first", "\n" + fields(name, desc), skill.RuleFrontMatter},
		{"empty file", "", skill.RuleFrontMatter},
		{"text only", "# Tea\n", skill.RuleFrontMatter},
		{"never closed", "---\nname: my-skill\n", skill.RuleFrontMatter},
		{"mark alone", "---", skill.RuleFrontMatter},
		{"four hyphens", "-" + fields(name, desc), skill.RuleFrontMatter},
		{"Latin-1", fields(name, desc) + "caf\xe9", skill.RuleFrontMatter},
		{"nothing between the marks", "---\n---\n", skill.RuleYAML},
		{"a text between the marks", fields("tea"), skill.RuleYAML},
		{"a list between the marks", fields("- tea"), skill.RuleYAML},
		{"unquoted colon", fields(name, "description: Commands: init, status"), skill.RuleYAML},
		{"flow list", fields(name, desc, "allowed-tools: [Read, Bash]"), skill.RuleYAML},
		{"flow map", fields(name, desc, "metadata: {a: b}"), skill.RuleYAML},
		{"key twice", fields(name, desc, desc), skill.RuleYAML},
		{"anchor", fields(name, "description: &a ok"), skill.RuleYAML},
		{"alias", fields(name, "description: ok", "metadata:", "  a: &x b", "  c: *x"), skill.RuleYAML},
		{"tag", fields(name, "description: !!str ok"), skill.RuleYAML},
		{"tab", fields(name, desc, "metadata:", "\ta: b"), skill.RuleYAML},
		{"mark inside quotes", fields(name, `description: "a---b"`), skill.RuleYAML},
		{"mark before the description", fields(name, "license: a --- b", desc), skill.RuleDescription},
		{"mark before the name", fields(desc, "license: a --- b", name), skill.RuleName},
		{"merge key", fields(name, desc, "metadata:", "  <<:", "    a: b"), skill.RuleYAML},
		{"name in another case", fields(name, desc, "Name: x"), skill.RuleField},
		{"unknown field", fields(name, desc, "version: 1"), skill.RuleField},
		{"field in another case", fields(name, desc, "License: MIT"), skill.RuleField},
		{"key that is a number", fields(name, desc, "1: x"), skill.RuleField},
		{"no name", fields(desc), skill.RuleName},
		{"name null", fields("name:", desc), skill.RuleName},
		{"no description", fields(name), skill.RuleDescription},
		{"description blank", fields(name, `description: "  "`), skill.RuleDescription},
		{"1025 characters", fields(name, "description: "+strings.Repeat("x", 1025)), skill.RuleDescription},
		{"compatibility of 501", fields(name, desc, "compatibility: "+strings.Repeat("x", 501)), skill.RuleCompatibility},
		{"compatibility a list", fields(name, desc, "compatibility:", "  - x"), skill.RuleCompatibility},
		{"other directory", fields("name: other", desc), skill.RuleName},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := bundleFS("SKILL.md", c.text)
			if c.rule == "" {
				b, err := skill.Load(m, "my-skill", skill.Options{Strict: true})
				require.NoError(t, err)
				require.Equal(t, "my-skill", b.Name)
				require.True(t, b.StrictValid())
				return
			}
			f := oneFault(t, m, skill.Options{Strict: true})
			require.Equal(t, c.rule, f.Code)
			require.NotZero(t, f.Line)
			if b, err := skill.Load(m, "my-skill", skill.Options{}); err == nil {
				require.Equal(t, []string{c.rule}, rules(b.Violations))
			}
		})
	}
}

func TestStrictNames(t *testing.T) {
	cases := []struct {
		name string
		ok   bool
	}{
		{strings.Repeat("a", 64), true},
		{strings.Repeat("茶", 64), true},
		{"ｍｙ-skill", true}, // full width, NFKC gives ASCII
		{"x²", true},
		{"٣", true},
		{"straße", true},
		{"ⅳ", true},
		{"123", true},
		{"true", true},
		{"навык", true},
		{"cafe\u0301", true}, // composed by NFKC
		{strings.Repeat("a", 65), false},
		{"my_skill", false},
		{"my.skill", false},
		{"my skill", false},
		{"-my-skill", false},
		{"my-skill-", false},
		{"my--skill", false},
		{"My-Skill", false},
		{"НАВЫК", false},
		{"a\u200db", false}, // zero width joiner
		{"น\u0e33", false},  // decomposes into a mark
		{"हिन्दी", false},
		{"\u01c5", false}, // title case
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := fstest.MapFS{"dir/SKILL.md": &fstest.MapFile{Data: []byte(fields(`name: "`+c.name+`"`, "description: ok"))}}
			b, err := skill.Load(m, "dir", skill.Options{Strict: true, DirName: c.name})
			if c.ok {
				require.NoError(t, err)
				require.NotEmpty(t, b.Name)
				return
			}
			faults := fault.All(err)
			require.NotEmpty(t, faults)
			require.Equal(t, skill.RuleName, faults[0].Code)
		})
	}
}

// A name is text whatever YAML would make of it, and is compared with its directory in NFKC.
func TestStrictNamesUnquoted(t *testing.T) {
	for name, dir := range map[string]string{"123": "123", "true": "true", "my-skill": "ｍｙ-skill", "1.5": "", "2026-01-01": "2026-01-01"} {
		m := fstest.MapFS{"dir/SKILL.md": &fstest.MapFile{Data: []byte(fields("name: "+name, "description: ok"))}}
		b, err := skill.Load(m, "dir", skill.Options{Strict: true, DirName: dir})
		if name == "1.5" {
			require.ErrorContains(t, err, "other than letters")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, name, b.Name)
	}
}

func TestStrictFileNames(t *testing.T) {
	good := fields("name: my-skill", "description: ok")
	b, err := skill.Load(bundleFS("skill.md", good), "my-skill", skill.Options{Strict: true})
	require.NoError(t, err)
	require.Equal(t, "skill.md", b.SkillFile)
	require.Equal(t, []string{skill.RuleSkillFile}, rules(b.Findings))

	require.Equal(t, skill.RuleSkillFile, oneFault(t, bundleFS("Skill.md", good), skill.Options{Strict: true}).Code)
	require.Equal(t, "Skill.md", load(t, bundleFS("Skill.md", good)).SkillFile)

	require.Equal(t, skill.RuleSkillFile, oneFault(t, bundleFS("README.md", good), skill.Options{}).Code)
	require.Equal(t, skill.RuleSkillFile, oneFault(t, bundleFS("SKILL.md/x", good), skill.Options{}).Code)
	dangling := fstest.MapFS{"my-skill/SKILL.md": &fstest.MapFile{Data: []byte("gone"), Mode: fs.ModeSymlink}}
	require.Equal(t, skill.RuleSkillFile, oneFault(t, dangling, skill.Options{}).Code)
	_, err = skill.Load(bundleFS(), "my-skill", skill.Options{})
	require.ErrorIs(t, err, fs.ErrNotExist)
}

// A bundle in the current directory has no directory name of its own, and passes.
func TestCurrentDirectory(t *testing.T) {
	m := fstest.MapFS{"SKILL.md": &fstest.MapFile{Data: []byte(fields("name: tea", "description: ok"))}}
	b, err := skill.Load(m, ".", skill.Options{Strict: true})
	require.NoError(t, err)
	require.Equal(t, "tea", b.Name)
	_, err = skill.Load(m, ".", skill.Options{Strict: true, DirName: "coffee"})
	require.ErrorContains(t, err, "coffee")
}
