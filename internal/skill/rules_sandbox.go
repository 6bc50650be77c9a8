package skill

// Rules about the sandbox. "Yes" means: carrying the skill out as meant runs code or commands, or reads, creates or
// transforms files. Advice, planning, style, text in and text out, and calls of connections are "no".
var sandboxRules = []rule{
	{
		id: "JOY-BOX-ENTRY", means: "an entry point is declared",
		reason: "a declared script runs, and scripts run only in the VM",
		points: 3, whole: matchEntry,
	},
	{
		id: "JOY-BOX-SCRIPT", means: "the text runs a bundled script",
		reason: "somebody who follows the text runs code; a script that nothing mentions says nothing",
		points: 3, whole: matchCandidates,
	},
	{
		id: "JOY-BOX-SHELL", means: "a shell block holds a command",
		reason: "shell blocks are there to be run; lines that only set up a connection, and blocks under a heading about set-up, are left out",
		points: 3, line: matchShell,
	},
	{
		id: "JOY-BOX-CODE", means: "a block holds program code",
		reason: "code is there to be run or to be written into files; data and sample output (json, text, markdown, sql) are left out",
		points: 3, line: matchCode,
	},
	{
		id: "JOY-BOX-CODE-PASSING", means: "a block or two in a long text hold program code",
		reason: "such code shows what is meant as often as it is there to be run or written",
		points: 1, line: matchPassingCode,
	},
	{
		id: "JOY-BOX-COMMAND", means: "the text names a command to run",
		reason: "a command line in the middle of a sentence is run like one in a block",
		points: 3, line: matchCommand,
	},
	{
		id: "JOY-BOX-PATH", means: "the text tells to write or read a file by its path",
		reason: "files exist only in the VM; the bundle's own reference texts are part of the instructions and are left out",
		points: 3, line: matchPath,
	},
	{
		id: "JOY-BOX-FILES", means: "the text tells to read, write or transform files",
		reason: "files exist only in the VM",
		points: 3, line: matchFiles,
	},
	{
		id: "JOY-BOX-NAMES", means: "the text works with many files by name",
		reason: "four or more names of files that are not the bundle's own",
		points: 2, whole: matchFileNames,
	},
	{
		id: "JOY-BOX-FORMAT", means: "the result is a file of a program's own format",
		reason: "an office document, a slide deck, an image or a PDF is made by a program; text in an answer is not",
		points: 2, most: 2, line: matchFormat,
	},
	{
		id: "JOY-BOX-RUN", means: "the text tells to run something",
		reason: "tests, builds and programs run only in the VM",
		points: 2, most: 2, line: matchRun,
	},
	{
		id: "JOY-BOX-PROGRAMS", means: "it declares programs that it needs",
		reason: "a program that has to be there is there to be run",
		points: 3, whole: matchPrograms,
	},
	{
		id: "JOY-BOX-REFERENCE", means: "a text that it sends the reader to holds code or commands",
		reason: "reference texts are part of the instructions, and further from the work than SKILL.md",
		points: 1, whole: matchReferences,
	},
	{
		id: "JOY-BOX-REFERENCE-CODE", means: "a text that it sends the reader to is full of code or commands",
		reason: "three blocks or more are what the text is about",
		points: 1, whole: matchCodeReferences,
	},
	{
		id: "JOY-BOX-COMPATIBILITY", means: "compatibility names an environment to run programs in",
		reason: "what needs Python or a shell runs something",
		points: 2, whole: matchCompatibility,
	},
	{
		id: "JOY-BOX-PURPOSE", means: "the description is about writing or changing software",
		reason: "who writes software edits a code base; the description says when the skill is used, not yet what it does",
		points: 2, whole: matchPurpose,
	},
	{
		id: "JOY-BOX-ABOUT-FILES", means: "the description is about work on files",
		reason: "files exist only in the VM; the description says what the skill is for, not yet how",
		points: 2, whole: matchAboutFiles,
	},
	{
		id: "JOY-BOX-FUNCTIONS", means: "the text names functions to call",
		reason: "four or more functions of a library are named for somebody who writes code with them",
		points: 2, whole: matchFunctions,
	},
	{
		id: "JOY-BOX-CONFIG", means: "a block holds configuration or markup",
		reason: "such blocks are written into files as often as they are shown",
		points: 1, line: matchConfig,
	},
	{
		id: "JOY-BOX-SETUP", means: "commands stand under a heading about set-up or about what is optional",
		reason: "they may be the user's to run once, or the skill's own; installations are left out",
		points: 1, most: 3, line: matchSetup,
	},
	{
		id: "JOY-BOX-TOOLS", means: "the allowed tools run commands or write files",
		reason: "skills of connectors list them too, out of habit",
		points: 1, whole: matchTools,
	},
	{
		id: "JOY-BOX-TEXT", means: "the skill says that it calls no tool",
		reason: "who calls no tool runs nothing and touches no file",
		points: -3, line: matchNoTools,
	},
	{
		id: "JOY-BOX-KIND", means: "skill_kind is instruction",
		reason: "such a step is worked by a model; alone it does not say that the model needs no VM",
		points: -2, whole: matchKind,
	},
}

// Rules that the judgement itself adds.
const (
	ruleUnsure = "JOY-BOX-UNSURE"
	ruleNoNeed = "JOY-BOX-NONE"
)
