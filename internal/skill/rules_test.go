package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

func TestSandboxDetermination(t *testing.T) {
	cases := []struct {
		name, front, body string
		required          bool
		rules             []string
	}{
		// Not needed, and what is easily mistaken.
		{"advice", "", "Choose tea by the time of day. Keep it short.\n", false, []string{"JOY-BOX-NONE"}},
		{"nothing", "", "", false, []string{"JOY-BOX-NONE"}},
		{"actions in prose", "", "Search the tracker for open issues, then post a summary to the channel.\n", false, []string{"JOY-BOX-NONE"}},
		{"sample output", "", "Answer like this:\n```json\n{\"tea\": \"green\"}\n```\n```\nTea: green\n```\n", false, []string{"JOY-BOX-NONE"}},
		{"connecting a connector", "", "## Set-up\n```bash\nclaude mcp add tea https://mcp.example.com\n```\n", false, []string{"JOY-BOX-NONE"}},
		{"words of a lawyer", "", "Source code is a literary work. A file is a record of proceedings.\n", false, []string{"JOY-BOX-NONE"}},
		{"sql", "", "```sql\nSELECT tea FROM cups;\n```\n", false, []string{"JOY-BOX-NONE"}},
		{"a word that is also a command", "", "The word `make` is short. Say `find out more` twice.\n", false, []string{"JOY-BOX-NONE"}},
		{"hidden", "", "<!--\n```bash\nrm -rf x\n```\nrun the script\n-->\nThink.\n", false, []string{"JOY-BOX-NONE"}},
		{
			"instruction with tools of habit", "allowed-tools: Bash\nskill_kind: instruction\n", "Think.\n", false,
			[]string{"JOY-BOX-TOOLS", "JOY-BOX-NONE"},
		},

		// Needed.
		{"entry", "metadata: {joy.entry: x.py}\n", "Think.\n", true, []string{"JOY-BOX-ENTRY"}},
		{"bundled script", "", "Run x.py.\n", true, []string{"JOY-BOX-SCRIPT"}},
		{"shell block", "", "```bash\n# first\njq . in.json\n```\n", true, []string{"JOY-BOX-SHELL"}},
		{"prompt in a plain block", "", "```\n$ teapot --fill\n```\n", true, []string{"JOY-BOX-SHELL"}},
		{"code block", "", "~~~python\nprint(1)\n~~~\n", true, []string{"JOY-BOX-CODE"}},
		{"command in a sentence", "", "Look at `git diff --stat` first.\n", true, []string{"JOY-BOX-COMMAND"}},
		{"file work", "", "1. Read the uploaded PDF.\n", true, []string{"JOY-BOX-FILES"}},
		{"file by path", "", "The summary is saved under `out/report.md`.\n", true, []string{"JOY-BOX-FILES"}},
		{"tests", "", "Then run the tests.\n", true, []string{"JOY-BOX-RUN"}},
		{"two hints", "allowed-tools: Write\n", "```yaml\na: b\n```\n", true, []string{"JOY-BOX-CONFIG", "JOY-BOX-TOOLS"}},

		// Unsure is needed, and says so.
		{"tools alone", "allowed-tools: Bash(git:*)\n", "Think.\n", true, []string{"JOY-BOX-TOOLS", "JOY-BOX-UNSURE"}},
		{"set-up alone", "", "## Installation\n```bash\npip install tea\n```\n", true, []string{"JOY-BOX-SETUP", "JOY-BOX-UNSURE"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := load(t, bundleFS("SKILL.md", skillMD(c.front, c.body), "x.py", ""))
			required, evidence := b.Sandbox()
			require.Equal(t, c.required, required, "%v", evidence)
			require.Equal(t, c.rules, rules(evidence))
			for _, e := range evidence {
				require.Equal(t, "my-skill/SKILL.md", e.File)
				require.NotEmpty(t, e.Detail)
			}
			_, again := b.Sandbox()
			require.Equal(t, evidence, again)
		})
	}
}

func TestEvidenceNamesTheLine(t *testing.T) {
	b := load(t, bundleFS("SKILL.md", skillMD("", "\nThink.\n\n```sh\n\ncurl https://example.com\n```\n")))
	_, evidence := b.Sandbox()
	require.Equal(t, []skill.Evidence{{
		Rule: "JOY-BOX-SHELL", File: "my-skill/SKILL.md", Line: 10, Detail: "a shell block holds a command: curl https://example.com",
	}}, evidence)
}

func TestPurposeIsOnlyAHint(t *testing.T) {
	m := bundleFS("SKILL.md", "---\nname: my-skill\ndescription: Use when writing React components for an app.\n---\nPrefer names.\n")
	required, evidence := load(t, m).Sandbox()
	require.True(t, required)
	require.Equal(t, []string{"JOY-BOX-PURPOSE", "JOY-BOX-UNSURE"}, rules(evidence))
	require.Equal(t, 3, evidence[0].Line)
}
