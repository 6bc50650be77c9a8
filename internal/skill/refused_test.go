package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

func TestNeedsOfTextOfWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		sandbox bool
		tools   []skill.Need
	}{
		"no front matter":  {"# Tea\n\nBrews.\n\n```sh\nkettle on\n```\n", true, nil},
		"advice":           {"# Tea\n\nDrink it.\n", false, nil},
		"nothing":          {"", false, nil},
		"description":      {"# Tea\n\nBrews.\n\ndescription: Search and post to Slack via its tools.\nPull Slack.\n", false, []skill.Need{{"slack", "service"}}},
		"not closed":       {"---\nname: tea\ndescription: Tea.\n```sh\nkettle on\n```\n", true, nil},
		"broken YAML":      {"---\n[: {\ndescription: Search and post to Slack via its tools.\n---\nPull Slack.\n", false, []skill.Need{{"slack", "service"}}},
		"script":           {"Run x.py.\n", true, nil},
		"line ends of CR ": {"# Tea\r\n\r\n```sh\r\nkettle on\r\n```\r\n", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := bundleFS("SKILL.md", c.text, "x.py", "print(1)\n")
			_, err := skill.Load(fsys, "my-skill", skill.Options{})
			require.Error(t, err)
			n, err := skill.NeedsOfText(fsys, "my-skill", skill.Options{})
			require.NoError(t, err)
			require.Equal(t, c.sandbox, n.Sandbox, "%v", n.Evidence)
			require.Equal(t, c.tools, n.Tools, "%v", n.Evidence)
			require.NotEmpty(t, n.Evidence)
		})
	}
}

func TestNeedsOfTextWithoutText(t *testing.T) {
	for name, fsys := range map[string][]string{
		"no file":   {"README.md", "# Tea\n"},
		"not UTF-8": {"SKILL.md", "tea \xff\n"},
		"UTF-16":    {"SKILL.md", "\xff\xfet\x00"},
	} {
		_, err := skill.NeedsOfText(bundleFS(fsys...), "my-skill", skill.Options{})
		require.Error(t, err, name)
	}
}
