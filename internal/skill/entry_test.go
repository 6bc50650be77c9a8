package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

func TestEntryStarts(t *testing.T) {
	cases := []struct {
		file, content string
		argv          []string
	}{
		{"x.py", "print()", []string{"python3"}},
		{"x.sh", "", []string{"bash"}},
		{"x.js", "", []string{"node"}},
		{"x.mjs", "", []string{"node"}},
		{"x.py", "#!/usr/bin/env python3\n", []string{"python3"}},
		{"x.py", "#!/usr/bin/env python3\r\nprint()\n", []string{"python3"}},
		{"x", "#! /bin/bash\n", []string{"/bin/bash"}},
		{"x", "#!/bin/bash -eu -o pipefail\n", []string{"/bin/bash", "-eu -o pipefail"}}, // one argument, as Linux has it
		{"x", "#!/usr/bin/awk\t-f", []string{"/usr/bin/awk", "-f"}},
		{"x.sh", "#!/usr/bin/env -S uv run --script\n", []string{"uv", "run", "--script"}},
		{"x", "#!/usr/bin/env -S A=1 python3 -u\n", []string{"env", "A=1", "python3", "-u"}},
	}
	for _, c := range cases {
		t.Run(c.file+" "+c.content, func(t *testing.T) {
			b := load(t, bundleFS("SKILL.md", skillMD("metadata: {joy.entry: ./scripts/"+c.file+"}\n", ""), "scripts/"+c.file, c.content))
			require.Equal(t, &skill.Entry{Path: "scripts/" + c.file, Argv: c.argv, Line: 4}, b.Entry)
		})
	}
}

func TestEntryRefused(t *testing.T) {
	cases := []struct {
		name, front, body, content string
		line                       int
		says, hint                 string
	}{
		{"not there", "metadata: {joy.entry: scripts/y.py}\n", "", "", 4, "not a file", "the bundle has scripts/x.py"},
		{"outside", "metadata: {joy.entry: ../x.py}\n", "", "", 4, "leads out", "name a file"},
		{"absolute", "metadata: {joy.entry: /bin/sh}\n", "", "", 4, "leads out", "name a file"},
		{"backslash", `metadata: {joy.entry: scripts\x.py}` + "\n", "", "", 4, "leads out", "name a file"},
		{"directory", "metadata: {joy.entry: scripts}\n", "", "", 4, "not a file", "scripts/x.py"},
		{"empty", "entrypoint: ''\n", "", "", 4, "empty", "name a file"},
		{"two", "entrypoint: scripts/x.py\nmetadata:\n  joy.entry: SKILL.md\n", "", "", 6, "on line 4", "joy.entry"},
		{"no interpreter", "metadata: {joy.entry: SKILL.md}\n", "", "", 4, `".md"`, ".mjs (node)"},
		{"relative interpreter", "metadata: {joy.entry: scripts/x.py}\n", "", "#!python3\n", 4, "full path", "#!"},
		{"env alone", "metadata: {joy.entry: scripts/x.py}\n", "", "#!/usr/bin/env\n", 4, "without a program", "#!"},
		{"env with options only", "metadata: {joy.entry: scripts/x.py}\n", "", "#!/usr/bin/env -S -i A=1\n", 4, "without a program", "#!"},
		{"env with two arguments", "metadata: {joy.entry: scripts/x.py}\n", "", "#!/usr/bin/env python3 -u\n", 4, "env -S", "#!"},
		{"env with quotes", "metadata: {joy.entry: scripts/x.py}\n", "", "#!/usr/bin/env -S python3 -c 'x'\n", 4, "quotes", "#!"},
		{"script without entry", "skill_kind: script\n", "Think.\n", "", 0, "no entry point", "scripts/run.py"},
		{"script with a candidate", "skill_kind: script\n", "Run scripts/x.py.\n", "", 0, "no entry point", "joy.entry: scripts/x.py"},
		{"instruction with entry", "skill_kind: instruction\nentrypoint: scripts/x.py\n", "", "", 5, "instruction", "drop"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := oneFault(t, bundleFS("SKILL.md", skillMD(c.front, c.body), "scripts/x.py", c.content), skill.Options{})
			require.Equal(t, skill.RuleEntry, f.Code)
			require.Equal(t, c.line, f.Line)
			require.ErrorContains(t, f, c.says)
			require.Contains(t, f.Hint, c.hint)
		})
	}
}

// The older spelling is read as well; Strict says so and stays content.
func TestEntrypointField(t *testing.T) {
	m := bundleFS("SKILL.md", skillMD("entrypoint: x.sh\n", ""), "x.sh", "")
	require.Empty(t, load(t, m).Findings)
	b, err := skill.Load(m, "my-skill", skill.Options{Strict: true})
	require.NoError(t, err)
	require.Equal(t, "x.sh", b.Entry.Path)
	require.Equal(t, []string{skill.RuleField}, rules(b.Findings))
}

// What the text runs is named, and never becomes the entry.
func TestCandidates(t *testing.T) {
	cases := []struct {
		name, body string
		want       bool
	}{
		{"shell block", "```bash\npython3 scripts/x.py in\n```", true},
		{"block without language", "```\n$ scripts/x.py\n```", true},
		{"with a directory before it", "```sh\n${DIR}/scripts/x.py\n```", true},
		{"between backquotes", "First `python scripts/x.py --all`.", true},
		{"in a sentence", "Run scripts/x.py.", true},
		{"only named", "See [the source](scripts/x.py).", false},
		{"in a comment", "<!-- run scripts/x.py -->", false},
		{"another file", "Run scripts/x.pyc and my-scripts/x.pyx", false},
		{"sample output", "```json\n{\"ran\": \"scripts/x.py\"}\n```", false},
		{"never", "Think.", false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := load(t, bundleFS("SKILL.md", skillMD("", c.body+"\n"), "scripts/x.py", "", "scripts/data.csv", ""))
			require.Nil(t, b.Entry)
			require.Equal(t, c.want, len(b.Candidates) == 1, "%v", b.Candidates)
			if c.want {
				require.Equal(t, "my-skill/scripts/x.py", b.Candidates[0].File)
				require.NotZero(t, b.Candidates[0].Line)
			}
		})
	}
}
