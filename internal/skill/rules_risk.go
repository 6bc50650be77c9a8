package skill

// riskRule is one row of the table of risky content. To add one: write the match in match_risk.go, add the row, add
// the line that trips it and one that does not to risk_test.go. Findings are no determinations: RulesVersion stays.
type riskRule struct {
	id       string   // stable, JOY-…; joy.yaml's allow names it
	severity string   // where somebody would run or follow it; one less where it is only shown
	says     string   // what was found, as the finding's message
	reason   string   // why a reviewer should look, for the docs
	words    []string // one of which a text has in lower case, or the rule has nothing to ask of it
	match    func(*textLine) bool
}

// Rules of risky content that are not matched line by line.
const (
	RuleInvisible     = "JOY-INVISIBLE"      // characters that nobody sees and models read
	RuleArchive       = "JOY-ARCHIVE"        // a member of an archive that would land outside of where it is unpacked
	RuleLockedArchive = "JOY-ARCHIVE-LOCKED" // an archive that cannot be looked into
	RuleLoadCode      = "JOY-LOAD-CODE"      // code that runs when the skill is loaded
	RuleURL           = "JOY-URL"            // addresses whose content the pin does not cover
	RuleOutside       = "JOY-OUTSIDE"        // references to what is not in the bundle
	RuleUnread        = "JOY-UNREAD"         // text that was too long to look through
)

var commentStart, loadMark = []string{"<!--"}, []string{"!`"}

// riskRules are asked of every line of every text in the bundle. An error is only what is never legitimate.
var riskRules = []riskRule{
	{
		id: "JOY-BLOB-SHELL", severity: SeverityError, says: "an encoded blob is decoded and run",
		reason: "nobody can review it, and there is no reason to hide a program from its reader",
		words:  decoders, match: matchBlob,
	},
	{
		id: "JOY-RAW-IP", severity: SeverityError, says: "code is fetched from a bare IP address and run",
		reason: "an address without a name has no owner who could be asked, and no certificate",
		words:  fetchWords, match: matchRawIP,
	},
	{
		id: "JOY-CURL-SH", severity: SeverityWarning, says: "a program is fetched and run unseen",
		reason: "what is served can differ from day to day and from reader to reader; the pin does not cover it",
		words:  fetchWords, match: matchCurlShell,
	},
	{
		id: "JOY-HIDDEN", severity: SeverityWarning, says: "a comment that is not rendered speaks to the agent",
		reason: "whoever reviews the rendered text does not see it, and a model does",
		words:  commentStart, match: matchHidden,
	},
	{
		id: "JOY-LOCKED-DOWNLOAD", severity: SeverityWarning, says: "an archive with a password is a prerequisite",
		reason: "a password in the open protects nothing but keeps scanners out",
		words:  passwordWords, match: matchLockedDownload,
	},
	{
		id: "JOY-DROP", severity: SeverityWarning, says: "a webhook, a tunnel or a paste site is named",
		reason: "such places take data from anybody, or serve programs that change, and often have no account behind them",
		words:  dropHosts, match: matchDrop,
	},
	{
		id: "JOY-REMOTE-TEXT", severity: SeverityWarning, says: "instructions are read from elsewhere while the skill works",
		reason: "whoever serves them can change them after the review; the pin does not cover them",
		words:  agentTexts, match: matchRemoteText,
	},
	{
		id: "JOY-LOAD-CODE", severity: SeverityWarning, says: "a command runs when the skill is loaded",
		reason: "it runs before anybody decides to; joy itself runs no such command",
		words:  loadMark, match: matchLoadCode,
	},
	{
		id: "JOY-MEMORY", severity: SeverityWarning, says: "the agent's own memory, configuration or start-up is written",
		reason: "it outlives the run; in joy nothing of it leaves the VM",
		words:  agentFiles, match: matchMemory,
	},
}

// riskWords finds the words of riskRules, by their places in the table.
var riskWords = func() *finder {
	groups := make([][]string, len(riskRules))
	for i, r := range riskRules {
		groups[i] = r.words
	}
	return newFinder(groups...)
}()
