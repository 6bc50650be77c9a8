package skill

// RulesVersion is the version of the table below. It goes into every lock: raise it with every change to a rule that
// can change a determination.
const RulesVersion = 1

// weight is what a match says about the question "does carrying this skill out need a sandbox?".
type weight uint8

const (
	decides  weight = iota // one match is enough
	suggests               // two rules that suggest are enough; one alone leaves it unsure
)

// rule is one row of the table. To add one: write a match in match.go, add the row, add a case to rules_test.go,
// raise RulesVersion.
type rule struct {
	id     string // stable, JOY-…; it is in locks
	means  string // what a match says about the skill; opens the detail of its evidence
	reason string // why that bears on the question, for joy plan show --why and the docs
	weight weight
	match  func(*Bundle) []sight
}

// sight is where a rule matched and what was seen there.
type sight struct {
	line int
	seen string
}

// Rules about the sandbox. "Yes" means: carrying the skill out as meant runs code or commands, or reads, creates or
// transforms files. Advice, planning, style, text in and text out, and calls of connections are "no".
var sandboxRules = []rule{
	{
		id: "JOY-BOX-ENTRY", means: "an entry point is declared",
		reason: "a declared script runs, and scripts run only in the VM",
		weight: decides, match: matchEntry,
	},
	{
		id: "JOY-BOX-SCRIPT", means: "the text runs a bundled script",
		reason: "somebody who follows the text runs code",
		weight: decides, match: matchCandidates,
	},
	{
		id: "JOY-BOX-SHELL", means: "a shell block holds a command",
		reason: "shell blocks are there to be run; lines that only set up a connection, and blocks under a heading about set-up, are left out",
		weight: decides, match: matchShell,
	},
	{
		id: "JOY-BOX-CODE", means: "a block holds program code",
		reason: "code is there to be run or to be written into files; data and sample output (json, text, markdown, sql) are left out",
		weight: decides, match: matchCode,
	},
	{
		id: "JOY-BOX-COMMAND", means: "the text names a command to run",
		reason: "a command line in the middle of a sentence is run like one in a block",
		weight: decides, match: matchInline,
	},
	{
		id: "JOY-BOX-FILES", means: "the text tells to read, write or transform files",
		reason: "files exist only in the VM",
		weight: decides, match: matchFileWork,
	},
	{
		id: "JOY-BOX-RUN", means: "the text tells to run something",
		reason: "tests, builds and programs run only in the VM",
		weight: decides, match: matchRunProse,
	},
	{
		id: "JOY-BOX-PURPOSE", means: "the description speaks of work on code or files",
		reason: "the description says when the skill is used, not yet what it does",
		weight: suggests, match: matchPurpose,
	},
	{
		id: "JOY-BOX-CONFIG", means: "a block holds configuration or markup",
		reason: "such blocks are written into files as often as they are shown",
		weight: suggests, match: matchConfig,
	},
	{
		id: "JOY-BOX-SETUP", means: "commands stand under a heading about set-up",
		reason: "they may be the user's to run once, or the skill's own",
		weight: suggests, match: matchSetup,
	},
	{
		id: "JOY-BOX-TOOLS", means: "the allowed tools run commands or write files",
		reason: "skills of connectors list them too, out of habit",
		weight: suggests, match: matchTools,
	},
}

// Rules that Sandbox itself adds.
const (
	ruleUnsure = "JOY-BOX-UNSURE"
	ruleNoNeed = "JOY-BOX-NONE"
)

// maxSights bounds the evidence one rule gives: a reviewer needs the first places, not all of them.
const maxSights = 3
