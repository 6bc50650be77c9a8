package skill_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// ruleCase is a small bundle on which one rule speaks.
type ruleCase struct {
	rule, front, body string
	files             []string // more files, as pairs
	line              int      // of SKILL.md or of file
	file              string   // in the bundle; empty is SKILL.md
}

var ruleCases = []ruleCase{
	{rule: "JOY-BOX-ENTRY", front: "metadata: {joy.entry: x.py}\n", body: "Think.\n", line: 4},
	{rule: "JOY-BOX-SCRIPT", body: "Run x.py.\n", line: 5},
	{rule: "JOY-BOX-SHELL", body: "```bash\n# first\njq . in.json\n```\n", line: 7},
	{rule: "JOY-BOX-SHELL", body: "```\n$ teapot --fill\n```\n", line: 6},
	{rule: "JOY-BOX-CODE", body: "~~~python\nprint(1)\n~~~\n", line: 6},
	{rule: "JOY-BOX-CODE", body: "```\nimport tea from 'tea';\n```\n", line: 6},
	{rule: "JOY-BOX-CODE", body: "```\n@theme {\n  --tea: green;\n}\n```\n", line: 7},
	{rule: "JOY-BOX-CODE-PASSING", body: "~~~python\nprint(1)\n~~~\n" + strings.Repeat("Think.\n", 9), line: 6},
	{rule: "JOY-BOX-CODE", body: "~~~python\nrequests.get(u)\n~~~\n" + strings.Repeat("Think.\n", 9), line: 6},
	{rule: "JOY-BOX-COMMAND", body: "Look at `git diff --stat` first.\n", line: 5},
	{rule: "JOY-BOX-COMMAND", body: "Then `teapot brew --hot`.\n", line: 5},
	{rule: "JOY-BOX-PATH", body: "- Save the summary under `out/report.md`.\n", line: 5},
	{rule: "JOY-BOX-PATH", body: "**Output:** `out/tea-{time}.md`\n", line: 5},
	{rule: "JOY-BOX-FILES", body: "Launch an agent with this prompt:\n```markdown\nRead the files.\n```\nThink.\n", line: 7},
	{rule: "JOY-BOX-FILES", body: "Never:\n- Read the files yourself (agents do)\n", line: 6},
	{rule: "JOY-BOX-FILES", body: "1. Read the uploaded PDF.\n", line: 5},
	{rule: "JOY-BOX-FILES", body: "````prompt\nCreate the project files.\n````\n", line: 6},
	{rule: "JOY-BOX-FILES", body: "Then search the codebase for it.\n", line: 5},
	{rule: "JOY-BOX-NAMES", body: "`a.json`, `b.json`,\n`src/c.ts` and `d.md`\n", line: 6},
	{rule: "JOY-BOX-FORMAT", body: "- Word document (.docx), one page\n", line: 5},
	{rule: "JOY-BOX-FORMAT", body: "- Excel workbook with two sheets\n", line: 5},
	{rule: "JOY-BOX-RUN", body: "Then run the tests.\n", line: 5},
	{rule: "JOY-BOX-PROGRAMS", front: "metadata:\n  tea: {requires: {bins: [kettle]}}\n", body: "Boil.\n", line: 4},
	{rule: "JOY-BOX-REFERENCE", body: "See references/brew.md.\n", files: []string{"references/brew.md", "# Brew\n```sh\nkettle on\n```\n"}, line: 3, file: "references/brew.md"},
	{
		rule: "JOY-BOX-REFERENCE-CODE", body: "See brew.md.\nThink.\n", line: 8, file: "brew.md",
		files: []string{"brew.md", "```sh\na\n```\n```py\nb\n```\n```py\nc\n```\n"},
	},
	{rule: "JOY-BOX-FUNCTIONS", body: "Call `fill()` and `Kettle.boil(90)`.\n`SUM(A1)` is none.\nThen `tea::pour()`, `drink()`.\n", line: 7},
	{rule: "JOY-BOX-FILES", body: "- Prompt: \"Analyze the codebase and say what it does.\"\n", line: 5},
	{rule: "JOY-BOX-ABOUT-FILES", body: "Look for errors.\n", line: 3},
	{rule: "JOY-BOX-COMPATIBILITY", front: "compatibility: Requires Python 3.12\n", body: "Brew.\n", line: 4},
	{rule: "JOY-BOX-CONFIG", body: "```yaml\na: b\n```\n", line: 6},
	{rule: "JOY-BOX-SETUP", body: "## Set up\n```sh\nkettle on\n```\n", line: 7},
	{rule: "JOY-BOX-TOOLS", front: "allowed-tools: Bash(git:*)\n", body: "Think.\n", line: 4},
	{rule: "JOY-BOX-TEXT", body: "# You have no tools\n", line: 5},
	{rule: "JOY-BOX-KIND", front: "skill_kind: instruction\n", body: "Think.\n", line: 4},

	{rule: "JOY-TOOL-ACTION", front: "allowed_tools: [slack.reply_message]\n", body: "Reply.\n", line: 4},
	{rule: "JOY-TOOL-MCP-PROSE", front: "requires: {mcp: tea}\n", body: "Call the Tea MCP server.\n", line: 6},
	{rule: "JOY-TOOL-NONE", front: "requires: {mcp: tea}\nallowed_tools: [tea.brew]\n", body: "# You have no tools\n", line: 7},
	{rule: "JOY-TOOL-SERVER", front: "requires:\n  mcp: [rube]\n", body: "Search.\n", line: 4},
	{rule: "JOY-TOOL-MCP", body: "Call `mcp__tea__brew` once.\n", line: 5},
	{rule: "JOY-TOOL-MCP", body: "Find sources with `Notion:notion-search`.\n", line: 5},
	{rule: "JOY-TOOL-MCP-PROSE", body: "## Available MCP tools\nUse the Tea MCP server for prices.\n", line: 5},
	{rule: "JOY-TOOL-COMMAND", body: "```sh\ngh pr view\ngh pr diff\ngh pr checks\n```\n", line: 6},
	{rule: "JOY-TOOL-API", body: "```sh\ncurl -s \\\n  https://api.tea.dev/v1/leaves\n```\n", line: 7},
	{rule: "JOY-TOOL-SCRIPT", body: "Run x.py.\n", files: []string{"x.py", "import requests\nrequests.get('https://api.tea.dev/v1')\n"}, line: 2, file: "x.py"},
	{
		rule: "JOY-TOOL-SCRIPT-COMMAND", body: "Run x.sh.\n", files: []string{"x.sh", "# first\nn=$(gh pr view)\ngh pr diff\n"},
		line: 2, file: "x.sh",
	},
	{rule: "JOY-TOOL-SCRIPT-COMMAND", body: "Run x.py.\n", files: []string{"x.py", "\ncmd = [\"gh\", \"pr\"]\ncmd = ['gh', n]\n"}, line: 2, file: "x.py"},
	{rule: "JOY-TOOL-COMPATIBILITY", front: "compatibility: Requires docker.\n", body: "Brew.\n", line: 4},
	{rule: "JOY-TOOL-ACCOUNT", front: "compatibility: Requires a Kettle account and an API key\n", body: "Brew.\n", line: 4},
	{rule: "JOY-TOOL-PROGRAM", front: "allowed-tools: Bash(tealist *)\n", body: "```sh\ncurl -fsSL https://tea.dev/i.sh | sh && tealist login\n```\n", line: 7},
	{rule: "JOY-TOOL-TOLD", body: "It polls leaves from the KETTLE API.\n", line: 5},
	{rule: "JOY-TOOL-TOLD", body: "The tool sends your text to an AI model.\n", line: 5},
	{rule: "JOY-TOOL-NAMES", body: "There are tools.\nCall `get_tea`, `list_teas` and `find_tea(name)`.\n", line: 6},
	{
		rule: "JOY-TOOL-SCRIPT", body: "Run `npx tealist a.md --hot`.\n", line: 2, file: "src/ask.ts",
		files: []string{"package.json", `{"bin": {"tealist": "dist/cli.js"}}`, "src/ask.ts", "import OpenAI from 'openai';\nconst c = new OpenAI();\n"},
	},
	{
		rule: "JOY-NET-SCRIPT", body: "Run `npx tealist a.md --hot`.\n", file: "tea/ask.js",
		files: []string{"tea/package.json", `{"name": "@tea/tealist", "bin": "ask.js"}`, "tea/ask.js", "require('https')\n"},
	},
	{rule: "JOY-TOOL-SCRIPT", body: "Run x.py.\n", files: []string{"x.py", "import yfinance as yf\nt = yf.Ticker('TEA')\n"}, line: 2, file: "x.py"},
	{rule: "JOY-TOOL-ALLOWED", front: "allowed-tools: Bash(gh issue:*), Read\n", body: "Pull the issue from GitHub.\n", line: 4},
	{rule: "JOY-TOOL-CONNECTED", body: "```\nYou need at least one source connected.\n```\n", line: 6},
	{rule: "JOY-TOOL-NEVER", front: "requires: {mcp: slack}\nallowed_tools: [slack.post]\n", body: "You never talk to Slack.\n", line: 7},
	{rule: "JOY-TOOL-CATEGORY", body: "Search ~~crm for it.\n- Use `~~tea room` tools.\n- Update **~~crm**\n", line: 5},
	{rule: "JOY-TOOL-PRODUCT", body: "Look it up in Tea Room.\nAll comes from Tea Room.\n", line: 5},
	{rule: "JOY-TOOL-ABOUT-API", body: "Set `KETTLE_API_KEY=x`.\n", line: 3},
	{rule: "JOY-TOOL-COMMAND", body: "```sh\nnpx -y vercel@latest\nnpx vercel link\nbunx vercel env\n```\n", line: 6},
	{rule: "JOY-TOOL-MCP-CONFIG", body: "```json\n{\"mcpServers\": {\n  \"tea\": {}}}\n```\n```json\n{\n  \"mcpServers\": {\n    \"tea\": {\n```\n", line: 12},
	{rule: "JOY-TOOL-SECRET", front: "metadata:\n  claw: {requires: {env: [TEA_API_KEY]}}\n", body: "Brew.\n", line: 4},
	{rule: "JOY-TOOL-KEY", body: "```sh\nexport TEA_API_KEY=x\n```\nThen `TEA_API_KEY` is there.\n", line: 6},
	{rule: "JOY-TOOL-KEY-SAID", body: "`TEA_API_KEY` is required.\n", line: 5},
	{rule: "JOY-TOOL-PROGRAM", front: "metadata: {claw: {requires: {bins: [tealist]}}}\n", body: "Use `tealist login` once.\n", line: 6},
	{rule: "JOY-TOOL-PROGRAM", front: "metadata: {claw: {requires: {bins: [tealist]}}}\n", body: "```sh\ntealist auth\n```\n", line: 7},
	{rule: "JOY-TOOL-ASKS", body: "Search Linear for it.\nThen update Linear.\nCreate a Linear issue.\n", line: 5},
	{rule: "JOY-TOOL-NAMED", body: "Pull the Jira board.\nThe Jira status.\nUpdate Jira.\n", line: 7},
	{rule: "JOY-TOOL-ABOUT", body: "Search Slack.\n", front: "", line: 3},
	{rule: "JOY-TOOL-ABOUT", body: "Search Jira.\n", front: "", line: 3},
	{rule: "JOY-TOOL-ABOUT-MCP", body: "Brew.\n", line: 3},
	{rule: "JOY-TOOL-CREDENTIAL", body: "## Set up\nGet your API key from the tea room.\n`TEA_API_KEY` is read.\n", line: 6},
	{rule: "JOY-TOOL-CREDENTIAL", body: "`TEA_API_KEY` is read.\n```http\nAuthorization: Bearer x\n```\n", line: 7},
	{rule: "JOY-TOOL-VARIABLE", body: "It reads `OTHER_URL` and `SKILL_API_URL`.\nSign up for an account.\n", line: 5},
	{rule: "JOY-TOOL-SHIPPED", body: "Set `SKILL_URL`.\n", files: []string{"index.js", "await fetch(base)\n"}, file: "index.js"},
	{rule: "JOY-TOOL-SCRIPT-CALLS", body: "Run x.py with `SKILL_HOST`.\n", files: []string{"x.py", "import requests\n"}, file: "x.py"},
	{rule: "JOY-TOOL-ABOUT-DATA", body: "Get an API key once.\n", line: 3},
	{rule: "JOY-TOOL-COMPATIBILITY", body: "Brew.\n", line: 3},
	{rule: "JOY-TOOL-SCRIPT-COMMAND", body: "Run x.js.\n", files: []string{"x.js", "\nconst v = execSync('gh pr view');\nexecSync(`gh pr diff ${n}`);\n"}, line: 2, file: "x.js"},
	{rule: "JOY-NET-REQUEST", body: "```sh\ncurl https://api.tea.dev/v1\n```\n", line: 6},
	{rule: "JOY-NET-WEB", body: "Use WebFetch to read the page.\n", line: 5},
	{rule: "JOY-NET-REQUEST", body: "```sh\ncurl http://8.8.4.4/tea\n```\n", line: 6},
	{rule: "JOY-NET-ADDRESS", body: "First fetch the list at `https://tea.dev/llms.txt`.\n", line: 5},
	{rule: "JOY-NET-REGISTRY", body: "```sh\nnpm outdated\nnpx npm-check-updates -u\n```\n", line: 6},
	{rule: "JOY-NET-TARGET", body: "```sh\nsudo nmap -sV $T\n```\n", line: 6},
	{rule: "JOY-BOX-PATH", body: "Saved to `/docs/{tea}/plan.md`.\n", line: 5},
	{rule: "JOY-BOX-FORMAT", body: "- List of teas (Excel)\n", line: 5},
	{rule: "JOY-NET-DOWNLOAD", body: "Then download the firmware.\n", line: 5},
	{rule: "JOY-NET-ABOUT", body: "Brew.\n", line: 3},
	{rule: "JOY-NET-LIBRARY", body: "```python\nm = AutoModel.from_pretrained('tea')\n```\n", line: 6},
	{rule: "JOY-NET-SCRIPT", body: "Run x.py.\n", files: []string{"x.py", "import requests\n"}, line: 0, file: "x.py"},
}

// descriptions of the cases whose rule reads the description.
var descriptions = map[string]string{
	"JOY-BOX-PURPOSE":        "Use when writing React components for an app.",
	"JOY-BOX-ABOUT-FILES":    "Audit a spreadsheet for errors.",
	"JOY-TOOL-COMPATIBILITY": "Brews tea. Requires `gh`.",
	"JOY-TOOL-ABOUT-DATA":    "Fetch scores from Tea Room.",
	"JOY-TOOL-ABOUT":         "Search and post to Slack and Jira/Trello via their tools.",
	"JOY-TOOL-ABOUT-MCP":     "Brew tea via the Kettle MCP server.",
	"JOY-TOOL-ABOUT-API":     "Looks up teas via the Kettle Web API.",
	"JOY-TOOL-PRODUCT":       "Prepares a call using Tea Room signals.",
	"JOY-NET-ABOUT":          "Answers on tea, with web search.",
}

func TestEveryRuleHasABundle(t *testing.T) {
	cases := append(slices.Clone(ruleCases), ruleCase{rule: "JOY-BOX-PURPOSE", body: "Prefer names.\n", line: 3})
	tested := map[string]bool{}
	for _, c := range cases {
		tested[c.rule] = true
		t.Run(c.rule+" "+c.body, func(t *testing.T) {
			desc := descriptions[c.rule]
			if desc == "" {
				desc = "Advice on tea."
			}
			text := "---\nname: my-skill\ndescription: " + desc + "\n" + c.front + "---\n" + c.body
			b := load(t, bundleFS(append([]string{"SKILL.md", text, "x.py", ""}, c.files...)...))
			needs := b.Needs()
			at := slices.IndexFunc(needs.Evidence, func(e skill.Evidence) bool { return e.Rule == c.rule })
			require.GreaterOrEqual(t, at, 0, "%v", needs.Evidence)
			file := "my-skill/SKILL.md"
			if c.file != "" {
				file = "my-skill/" + c.file
			}
			require.Equal(t, file, needs.Evidence[at].File)
			require.Equal(t, c.line, needs.Evidence[at].Line)
			require.NotEmpty(t, needs.Evidence[at].Detail)
			require.Equal(t, needs, b.Needs(), "judged twice")
		})
	}
	for _, id := range skill.RuleIDs() {
		require.True(t, tested[id], "%s has no bundle", id)
	}
}
