package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What looks like a call of a service, and is a name, a file, an installation or somebody else's key.
func TestWhatIsNoCall(t *testing.T) {
	for name, c := range map[string]struct{ description, body string }{
		"files of GitHub Actions":       {"Brews tea.", "Create GitHub Actions workflows.\nManage GitHub Copilot.\nUpdate GitHub Pages.\n"},
		"a tracker of something":        {"Brews tea.", "Create the overlay tracker.\nUpdate the habit tracker.\nRead the mood tracker.\n"},
		"a line on a text of its own":   {"Brews tea.", "- `references/tea.md`: use GitHub, GitHub, GitHub\nUse GitHub of references/tea.md.\n"},
		"a key's rights":                {"Brews tea.", "Ask questions about `GITHUB_TOKEN`.\nThe scopes of `GITHUB_TOKEN`.\n"},
		"a place holder of a server":    {"Brews tea.", "Write `ServerName:tool_name`.\nWrite `Example:tool_name`.\n"},
		"a file of data":                {"Brews tea.", "```sh\nwget https://tea.dev/a/leaves.ogg\n```\n"},
		"a reference":                   {"Reference skill for the Tea API.", "```sh\ncurl https://api.tea.dev/v1\n```\n`TEA_API_KEY` is required.\nUse the Tea MCP server.\n"},
		"programs that are looked for":  {"Brews tea.", "```sh\nfor c in curl jq $more; do which $c; done\n```\n"},
		"a model in code":               {"Brews tea.", "```python\nclient = OpenAI()\n```\n"},
		"a program on the machine":      {"Transcribes locally with the Kettle CLI.", "Get an API key.\n"},
		"a key among others":            {"Finds secrets.", "Never store an API key, get a list.\nGenerate no API key here.\n"},
		"a format":                      {"Read PDF files. Access Excel. Get Unicode.", "Get an access token.\n"},
		"variables of somebody else":    {"Brews tea.", "Set `OTHER_URL` and `MY_SKILL_POST_URL`, `MY_URL`.\n"},
		"a generator of servers":        {"Brews tea.", "# Tea MCP Server Generator\nYou are a Tea MCP server generator.\n"},
		"a key in a place holder":       {"Brews tea.", "Write `<CARRIER_KEY>` twice.\nThen `<CARRIER_KEY>`.\n"},
		"a domain of one's own":         {"Brews tea.", "```sh\ncurl -X POST https://yourtea.com/login\n```\n"},
		"software by its noun":          {"Patterns for Shopify app development.", "Use Shopify.\nCreate Shopify apps.\nManage Shopify.\n"},
		"two services in a sentence":    {"Writes for Slack of GitHub.", "You get both.\n"},
		"made with a library":           {"Generate an MCP server using the MCP TypeScript SDK.", "Use it.\n"},
		"a required thing that is none": {"Brews tea. Requires patience, not gh of old.", "Brew.\n"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "---\nname: my-skill\ndescription: " + c.description + "\n---\n" + c.body
			n := load(t, bundleFS("SKILL.md", text, "references/tea.md", "# Tea\n")).Needs()
			require.Empty(t, n.Tools, "%v", n.Evidence)
		})
	}
}

// What is fetched to be installed is no need of the run, and a browser that is sent somewhere goes there.
func TestWhatIsContacted(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		hosts int
	}{
		"a script to install":   {"```sh\nwget https://apt.tea.dev/kettle.sh\n```\n", 0},
		"a package to install":  {"```sh\ncurl -LO https://tea.dev/kettle.deb\n```\n", 0},
		"a release to install":  {"```sh\nwget https://tea.dev/releases/download/kettle.zip\n```\n", 0},
		"a capability":          {"Tools: web search, execution.\n", 0},
		"a product on the page": {"**Google Analytics** tracks web pages.\n", 0},
		"data":                  {"```sh\nwget https://tea.dev/a/leaves.ogg\n```\n", 1},
		"data in two lines":     {"```sh\ncurl -o leaves.ogg \\\n  https://tea.dev/a/leaves.ogg\n```\n", 1},
		"a page to visit":       {"Navigate to https://tea.dev/shop.\n", 1},
		"an output to keep":     {"```sh\nleaves=$(curl -s https://api.tea.dev/v1)\n```\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := load(t, bundleFS("SKILL.md", skillMD("", c.body))).Needs()
			require.Len(t, n.Network, c.hosts, "%v", n.Evidence)
		})
	}
}
