package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// What is easily mistaken for work in a sandbox, and what is unsure.
func TestSandboxIsNotNeeded(t *testing.T) {
	cases := []struct{ name, front, body string }{
		{"advice", "", "Choose tea by the time of day. Keep it short.\n"},
		{"nothing", "", ""},
		{"actions in prose", "", "Search the tracker for open issues, then post a summary to the channel.\n"},
		{"sample output", "", "Answer like this:\n```json\n{\"tea\": \"green\"}\n```\n```\nTea: green\n```\n"},
		{"connecting a connector", "", "## Set-up\n```bash\nclaude mcp add tea https://mcp.example.com\n```\n"},
		{"installing for it", "", "## Installation\n```bash\npip install tea\n```\n"},
		{"words of a lawyer", "", "Source code is a literary work. A file is a record of proceedings.\n"},
		{"a block of sql", "", "```sql\nSELECT tea FROM cups;\n```\n"},
		{"a word that is also a command", "", "The word `make` is short. Say `find out more` twice.\n"},
		{"hidden", "", "<!--\n```bash\nrm -rf x\n```\nrun the script\n-->\nThink.\n"},
		{"tools of habit", "allowed-tools: Bash\n", "Think.\n"},
		{"kind of instruction", "skill_kind: instruction\nallowed-tools: Bash\n", "- Word document (.docx)\n"},
		{"script that nothing mentions", "", "Think.\n"},
		{"its own reference texts", "", "Read references/tea.md. Open `references/tea.md` when unsure. Read that file first.\n"},
		{"a link to more", "", "See [CONNECTORS.md](../../CONNECTORS.md), then create [a plan](plan.md).\n"},
		{"what somebody says", "", "- \"Export the report as PDF\" is a request for tea.\n- Say 'edit the file' or 'create a PDF'.\n- `/brew Read the files` starts it.\n"},
		{"a bad example", "", "❌ Fix all tests in the codebase\n"},
		{"settings alone", "", "```bash\nexport TEA=1\nTEA=2  # green\n```\n"},
		{"an address", "", "Read https://tea.dev/docs/page.html, written in 1999.\n"},
		{"what is not to be done", "", "**Don't:**\n- Run the tests\n\n- Edit the files\n\n## When not to use it\nEdit the code.\n"},
		{"statements of sql", "", "```\nSELECT tea FROM cups WHERE n = (1);\n```\n"},
		{"a prompt for somebody", "", "A good prompt:\n```markdown\nRead the files.\n```\n"},
		{"after a prompt", "", "```prompt\nThink.\n```\nThink.\n\nprint(1)\n"},
		{"starting a server", "allowed-tools: Bash\n", "## Setup\n```sh\nnpx tea-mcp\n```\n"},
		{"another format if asked for", "", "- Word document if needed, .docx\n- Optional: Excel workbook\n"},
		{"a format that is taken", "", "- Upload: .docx or .pdf\n- upload a PDF as .pdf\n"},
		{"what somebody says of himself", "", "> I want to edit the files\n"},
		{"a row of a table", "", "| x | Write tests | Run tests |\n"},
		{"tests of people", "", "Run A/B tests. Run the user tests.\n"},
		{"where it is there", "", "If `tea/context.md` exists, read it.\n"},
		{"a suffix", "", "- Put .html suffix away, or the .pdf suffix.\n- No .html suffix\n"},
		{"a file system", "", "Store it in file systems or elsewhere.\n"},
		{"three functions", "", "`a()`, `b()`, `c()`, and `SUM(A1)` in a sheet.\n"},
		{"a habit", "", "1. **Run it every morning**: build a habit.\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := load(t, bundleFS("SKILL.md", skillMD(c.front, c.body), "x.py", "", "references/tea.md", "# Tea\n")).Needs()
			require.False(t, n.Sandbox, "%v", n.Evidence)
			require.False(t, n.Unsure)
			require.Equal(t, "JOY-BOX-NONE", n.Evidence[len(n.Evidence)-1].Rule)
		})
	}
}

func TestUnsureIsNeededAndSaid(t *testing.T) {
	b := load(t, bundleFS("SKILL.md", skillMD("", "Then run the tests.\n")))
	n := b.Needs()
	require.True(t, n.Sandbox)
	require.True(t, n.Unsure)
	require.Equal(t, []string{"JOY-BOX-RUN", "JOY-BOX-UNSURE"}, rules(n.Evidence))
	required, evidence := b.Sandbox()
	require.True(t, required)
	require.Equal(t, n.Evidence, evidence)
}

func TestEvidenceNamesTheLine(t *testing.T) {
	b := load(t, bundleFS("SKILL.md", skillMD("", "\nThink.\n\n```sh\n\njq . x.json\n```\n")))
	_, evidence := b.Sandbox()
	require.Equal(t, []skill.Evidence{{
		Rule: "JOY-BOX-SHELL", File: "my-skill/SKILL.md", Line: 10, Detail: "a shell block holds a command: jq . x.json",
	}}, evidence)
}

// Names and kinds of what is needed, what can be done without, and what is neither.
func TestToolsAndHosts(t *testing.T) {
	cases := []struct {
		name, front, body        string
		tools, network, optional []skill.Need
	}{
		{
			"actions", "allowed_tools:\n  - railway.get_logs\n  - slack.reply_message\n", "Read.\n",
			[]skill.Need{{"railway", "action"}, {"slack", "action"}},
			[]skill.Need{{"", "api"}},
			nil,
		},
		{"a server of one's own machine", "requires: {mcp: [playwright]}\n", "Click.\n", []skill.Need{{"playwright", "local"}}, nil, nil},
		{
			"a request", "", "```sh\ncurl https://api.tea.dev/v1 | jq .\n```\n",
			[]skill.Need{{"tea", "service"}},
			[]skill.Need{{"api.tea.dev", "api"}},
			nil,
		},
		{
			"a request abroad", "", "```sh\ncurl https://api.tea.co.uk/v1\n```\n",
			[]skill.Need{{"tea", "service"}},
			[]skill.Need{{"api.tea.co.uk", "api"}},
			nil,
		},
		{
			"a request and its key", "", "```sh\ncurl -H \"X: $TEA_API_KEY\" https://api.tea.dev/v1\n```\n",
			[]skill.Need{{"tea", "service"}},
			[]skill.Need{{"api.tea.dev", "api"}},
			nil,
		},
		{
			"another machine", "", "```sh\nssh -p 22 me@box.tea.dev ls\n```\n",
			[]skill.Need{{"tea", "service"}},
			[]skill.Need{{"box.tea.dev", "api"}},
			nil,
		},
		{
			"optional here, needed there", "", "## If available\n```sh\ncurl https://a.dev/x\n```\n## Then\n```sh\ncurl https://a.dev/y\n```\n",
			[]skill.Need{{"a", "service"}},
			[]skill.Need{{"a.dev", "api"}},
			nil,
		},
		{
			"a request to an address in a variable", "", "```sh\ncurl \"$TEA_URL\"\n```\n",
			[]skill.Need{{"", "service"}},
			[]skill.Need{{"", "api"}},
			nil,
		},
		{"a daemon", "", "```sh\ndocker ps\ndocker logs x\ndocker stop x\n```\n", []skill.Need{{"docker", "local"}}, nil, nil},
		{"several services, each once", "", "Pull Jira.\nFetch Asana.\n", []skill.Need{{"asana", "service"}, {"jira", "service"}}, []skill.Need{{"", "api"}}, nil},
		{"the web", "", "Search the web for it.\n", nil, []skill.Need{{"", "api"}}, nil},
		{"a model hub", "", "```python\nload_dataset('tea')\n```\n", nil, []skill.Need{{"huggingface.co", "api"}}, nil},
		{"optional", "", "## If connected\nCall `mcp__tea__brew`.\n", nil, nil, []skill.Need{{"tea", "mcp"}}},

		{"an installation", "", "```sh\ncurl -fsSL https://tea.dev/install.sh | sh\npip install tea\n```\n", nil, nil, nil},
		{"an example", "", "```sh\ncurl https://api.example.com/v1 http://localhost:80/\n```\n", nil, nil, nil},
		{"a connector of a kind, once", "", "Search ~~crm.\n", nil, nil, nil},
		{"a connector of a kind, if there", "", "If there is one, search ~~crm.\nIf not, pull ~~crm.\n", nil, nil, nil},
		{"a file from somewhere", "", "```sh\ncurl -fsSL \"$BASE/tea.py\" -o tea.py\n```\n", nil, []skill.Need{{"", "api"}}, nil},
		{"a program to install", "", "## Setup\nDownload the images.\n", nil, nil, nil},
		{"without servers", "", "Use the Tea MCP server.\nCall Tea MCP tools.\nIf MCP is not available, think.\n", nil, nil, []skill.Need{{"tea", "mcp"}}},
		{"a table of servers", "", "| `mode` | use the MCP server |\n| x | use the MCP server |\n", nil, nil, nil},
		{"a program that is looked at", "", "```sh\nman curl | grep $x > words\n```\n", nil, nil, nil},
		{"an account that is optional", "compatibility: Tea account optional, requires tea. Requires API key\n", "Brew.\n", nil, nil, nil},
		{"an account of nobody", "compatibility: Requires API key and account\n", "Brew.\n", nil, nil, nil},
		{"allowed and no more", "allowed-tools: Bash(gh issue:*), Bash(gh), Read(gh)\n", "Think.\n", nil, nil, nil},
		{"the web on demand", "", "Use WebFetch on demand.\n", nil, nil, []skill.Need{{"", "api"}}},
		{"one of a kind", "", "Name at least one tea.\nOptional: at least one source connected.\n", nil, nil, nil},
		{"a requirement that is none", "compatibility: Docker is optional, needs tea\n", "Brew.\n", nil, nil, nil},
		{"a server that it starts", "", "Start the MCP server.\nCall the MCP tools.\n", []skill.Need{{"", "local"}}, nil, nil},
		{"an address not to fetch", "", "Do not fetch https://tea.dev/a.\nFetch it. See https://tea.dev/b.\nPrefetch https://tea.dev/c.\n", nil, nil, nil},
		{"one's own addresses", "", "```sh\ncurl http://10.0.0.1/ http://192.0.2.7/ http://127.0.0.1/\n```\nFetch http://localhost:80/.\n", nil, nil, nil},
		{"a registry in passing", "", "Say `npm audit` if you like.\n", nil, nil, nil},
		{"installed", "", "```sh\nnpm ci\nnpm install tea\nnpm run audit\n```\n", nil, nil, nil},
		{"a kind of API", "", "It uses the REST API and calls the API.\n- [ ] It uses the Intl API\n", nil, nil, nil},
		{"two names of tools", "", "There are tools: `get_tea`, `list_teas`, `create_file`, `tea_list`.\n", nil, nil, nil},
		{"names of columns", "", "Fill `get_tea`, `list_teas` and `find_tea`.\n", nil, nil, nil},
		{"an installation in a sentence", "", "Install: download from GitHub.\nInstall it, then fetch from GitHub.\nInstall GitHub.\n", nil, nil, nil},
		{"a link", "", "See https://api.tea.dev/docs.\n", nil, nil, nil},
		{"set-up of a connector", "", "```sh\nclaude mcp add tea https://mcp.tea.dev\n```\n", nil, nil, nil},
		{"a passing command", "", "Say `gh pr view 1` if you like.\n", nil, nil, nil},
		{"a passing name", "", "Write it so that it reads well in Slack.\n", nil, nil, nil},
		{"one's own key", "", "`API_KEY` is required, and MAX_TOKENS too.\n", nil, nil, nil},
		{"one service, once", "", "Pull Jira.\n", nil, nil, nil},
		{"trouble", "", "## Troubleshooting\n```sh\ngh a\ngh b\ngh c\n```\n", nil, nil, []skill.Need{{"github", "service"}}},
		{"only if", "", "- If told to, search the web.\n- Without it: use web research\n", nil, nil, []skill.Need{{"", "api"}}},
		{"never", "", "Never use WebSearch.\n", nil, nil, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := load(t, bundleFS("SKILL.md", skillMD(c.front, c.body))).Needs()
			require.Equal(t, c.tools, n.Tools, "%v", n.Evidence)
			require.Equal(t, c.network, n.Network, "%v", n.Evidence)
			require.Equal(t, c.optional, n.Optional)
		})
	}
}

// Code of the software that a skill is about is written, not run: what it calls is no need of the skill.
func TestSoftwareIsNotTheSkill(t *testing.T) {
	text := "---\nname: my-skill\ndescription: Build Slack bots and MCP servers in Python.\n---\n" +
		"Use the Tea MCP server pattern.\n```python\ntoken = os.environ['SLACK_BOT_TOKEN']\nkey = os.environ['SLACK_APP_TOKEN']\n```\nPost to Slack.\n"
	n := load(t, bundleFS("SKILL.md", text)).Needs()
	require.True(t, n.Sandbox)
	require.Empty(t, n.Tools, "%v", n.Evidence)
	require.Empty(t, n.Network)
}

// What implements something for a service shows its calls as code; a product by its name alone is an example.
func TestProductsAreNotAlwaysServices(t *testing.T) {
	for name, c := range map[string][2]string{
		"implemented":   {"Implement Stripe checkouts with Stripe.", "Set up Stripe.\nStripe pays.\nUse Stripe.\nUse Stripe.\n```python\nstripe.pay()\n```\n"},
		"calls as code": {"Integrate Tea payments.", "```python\nbase_url = 'https://api.tea.dev'\n```\n"},
		"with code":     {"Analyse data using Polars.", "Read it in Polars.\nTake it from Polars.\n```python\npolars.scan()\n```\n"},
		"once":          {"Plan teas using Tea Room.", "Look in Tea Room.\n"},
		"a language":    {"Count using Python.", "Count in Python.\nCount using Python.\n"},
		"an acronym":    {"Write texts via HTML.", "Write in HTML.\nRead from HTML.\n"},
		"no name":       {"Plan teas using care, from", "Look in care.\n"},
		"makes skills":  {"Create skills that use MCP tools.", "Use the Tea MCP server.\nCall the Tea MCP tools.\n"},
		"an API alone":  {"Looks up teas via the Kettle API, from", "Look.\n"},
		"shown":         {"Build websites.", "```sh\nnpx vercel\nnpx vercel link\nnpx vercel env\nnpx -y\n```\n"},
		"not a product": {"Plan using", "Think.\n"},
	} {
		n := load(t, bundleFS("SKILL.md", "---\nname: my-skill\ndescription: "+c[0]+"\n---\n"+c[1])).Needs()
		require.Empty(t, n.Tools, "%s: %v", name, n.Evidence)
		require.Empty(t, n.Network, name)
	}
}

// Only a program that the bundle makes and the text runs speaks for the skill.
func TestSourcesOfOtherPrograms(t *testing.T) {
	calls := "import OpenAI from 'openai';\nconst c = new OpenAI();\n"
	for name, files := range map[string][]string{
		"not run":         {"package.json", `{"bin": {"kettle": "a.js"}}`, "src/a.ts", calls},
		"no program":      {"package.json", `{"name": "tealist"}`, "src/a.ts", calls},
		"broken":          {"package.json", `{"bin": `, "src/a.ts", calls},
		"no names":        {"package.json", `{"bin": [1]}`, "src/a.ts", calls},
		"elsewhere":       {"tea/package.json", `{"bin": {"tealist": "a.js"}}`, "src/a.ts", calls},
		"another's model": {"package.json", `{"bin": {"tealist": "a.js"}}`, "src/a.ts", "new OpenAI({baseURL: 'http://localhost:1/'})\n"},
	} {
		n := load(t, bundleFS(append([]string{"SKILL.md", skillMD("", "Run `npx tealist a.md --hot`.\n")}, files...)...)).Needs()
		require.Empty(t, n.Tools, "%s: %v", name, n.Evidence)
		require.Empty(t, n.Network, "%s: %v", name, n.Evidence)
	}
}

func TestDeclaredProgramsAndVariables(t *testing.T) {
	n := load(t, bundleFS("SKILL.md", skillMD("metadata: {claw: {primaryEnv: TEA_TOKEN, requires: {bins: [jq, curl], anyBins: [a], env: [TEA_TOKEN, TEA_URL]}}}\n", ""))).Needs()
	require.Equal(t, []skill.Need{{"a", "binary"}, {"curl", "binary"}, {"jq", "binary"}}, n.Binaries)
	require.Equal(t, []skill.Need{{"TEA_TOKEN", "secret"}, {"TEA_URL", "secret"}}, n.Secrets)
	require.Equal(t, []skill.Need{{"tea", "service"}}, n.Tools)
}
