package skill

import "strings"

// service is an outside service, or a program on the user's machine, that a skill may need.
type service struct {
	name     string
	words    []string // that name it in a sentence, in lower case
	commands []string // programs that talk to it
	local    bool     // on the user's own machine: needing it needs no network
}

// services in one line each: name: words in a sentence; programs. A leading ! is a service on the user's machine.
// To add one, add a line.
const serviceTable = `
ahrefs: ahrefs;
airtable: airtable;
apollo: apollo;
asana: asana;
atlassian: atlassian confluence;
aws: ; aws cdk sam eksctl
azure: ; az azd
bigquery: bigquery; bq
bitbucket: bitbucket;
cloudflare: ; wrangler cloudflared
!chrome: ; agent-browser
clickup: clickup;
codex: ; codex
databricks: databricks; databricks
datadog: datadog;
discord: discord;
!docker: ; docker docker-compose podman
factset: factset;
figma: figma;
firebase: ; firebase
fly: ; fly flyctl
gcloud: ; gcloud gsutil
gemini: ; gemini
github: github; gh
gitlab: gitlab; glab
gmail: gmail;
google: ; gog gws
heroku: ; heroku
hubspot: hubspot;
huggingface: ; hf huggingface-cli
intercom: intercom;
issue-tracker: tracker;
jira: jira; jira
kaggle: ; kaggle
kubernetes: ; kubectl helm
latch: ; latch
linear: linear; linear
mailchimp: mailchimp;
modal: ; modal
netlify: ; netlify
notion: notion;
onepassword: ; op
outlook: outlook;
pagerduty: pagerduty;
paypal: paypal;
quickbooks: quickbooks qb;
railway: ; railway
salesforce: salesforce; sf sfdx
sentry: sentry; sentry-cli
shopify: shopify; shopify
slack: slack;
snowflake: snowflake; snowsql
spotify: spotify; spogo spotify_player
stripe: stripe; stripe
supabase: ; supabase
telegram: telegram;
todoist: todoist;
trello: trello;
twilio: twilio; twilio
twitter: ; bird xurl
vercel: ; vercel
zendesk: zendesk;
`

var services = readServices(serviceTable)

// byWord, byCommand and byName find a service; byName knows the words as well.
var byWord, byCommand, byName = indexServices(services)

func (s *service) need() Need {
	if s.local {
		return Need{s.name, KindLocal}
	}
	return Need{s.name, KindService}
}

func readServices(table string) (out []service) {
	for _, row := range strings.Split(strings.TrimSpace(table), "\n") {
		name, rest, _ := strings.Cut(row, ":")
		words, commands, _ := strings.Cut(rest, ";")
		name, local := strings.CutPrefix(name, "!")
		out = append(out, service{name, strings.Fields(words), strings.Fields(commands), local})
	}
	return out
}

func indexServices(list []service) (words, commands, names map[string]*service) {
	words, commands, names = map[string]*service{}, map[string]*service{}, map[string]*service{}
	for i := range list {
		names[list[i].name] = &list[i]
		for _, w := range list[i].words {
			words[w], names[w] = &list[i], &list[i]
		}
		for _, c := range list[i].commands {
			commands[c] = &list[i]
		}
	}
	return words, commands, names
}

// serviceAt is the service that a word of a sentence names; nil where it is part of another name: GitHub Actions run
// workflows that are files, and not every tracker is one of issues.
func serviceAt(words []word, i int) *service {
	text, _, _ := strings.Cut(words[i].text, "/") // of two that stand side by side the first
	s := byWord[text]
	switch {
	case s == nil:
		return nil
	case words[i].text == "github" && i+1 < len(words) && !words[i+1].stop && githubFiles[words[i+1].text]:
		return nil
	case words[i].text == "tracker" && i > 0 && !trackerKinds[words[i-1].text]:
		return nil
	}
	return s
}

var (
	githubFiles  = set("copilot actions action pages codespaces codespace workflow workflows flavored markdown models spec")
	trackerKinds = set("issue issues bug bugs ticket tickets project work the your our their team's a configured")
)

// localServers are MCP servers that work on the user's own machine.
var localServers = set(`playwright puppeteer filesystem ffmpeg blender unity chrome-devtools sqlite memory
	sequential-thinking edge-tts obsidian serena docker desktop-commander`)
