package account

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// rules are tried in order, from what leaves one explanation to what leaves many. Each sets the diagnosis and is true,
// or leaves it alone. failure is the step.finished or run.finished that failed.
var rules = []func(c *Case, d *Diagnosis, failure verify.Entry) bool{
	wasInterrupted, vmWentAway, tookTooLong, wasDenied, toolDrifted, callFailed, hitLimit, wasNotGranted, hostWasDenied,
	commandFailed, saysItself, unsure,
}

func wasInterrupted(_ *Case, d *Diagnosis, _ verify.Entry) bool {
	if d.Outcome != "interrupted" {
		return false
	}
	d.Category = Unknown
	d.say("high", "the run was stopped from outside, by a signal such as Ctrl-C", "run the agent again")
	return true
}

func vmWentAway(c *Case, d *Diagnosis, _ verify.Entry) bool {
	if len(c.lost) == 0 || d.FailureKind != "platform" {
		return false
	}
	d.Category = Platform
	e := c.lost[0]
	c.show(d, e)
	if e.Type == "sandbox.destroyed" {
		d.say("high", "the VM could not be shown to be gone", "run joy gc, then joy doctor")
		return true
	}
	d.say("high", "the VM went away while the run needed it", "run joy doctor, then run the agent again: a new run has a new VM")
	return true
}

func tookTooLong(c *Case, d *Diagnosis, failure verify.Entry) bool {
	if failure.Data["timeout"] != true && c.finished.Data["timeout"] != true {
		return false
	}
	d.Category = Spec
	if e := c.find(d.Step, "command.finished", func(e verify.Entry) bool { return e.String("ended_by") == "time limit" }); e != nil {
		c.show(d, *e)
	}
	d.say("high", stepOf(d.Step)+" was ended at its time limit; what it waited for is not on record",
		"look at what it printed until then (joy ledger show "+c.Run+" --step "+d.Step+" --full), and raise the limit when the work needs longer")
	if d.Step == "" {
		d.Remediation = "see which step took long (joy ledger show " + c.Run + "), and raise the limit when the work needs longer"
	}
	if ms, ok := failure.Int("ms"); ok && d.Step != "" {
		d.SpecChange = fmt.Sprintf("steps:\n  - id: %s\n    timeout: %ds\n", d.Step, 2*(ms/1000+1))
	}
	return true
}

// wasDenied explains a call that was not made.
func wasDenied(c *Case, d *Diagnosis, failure verify.Entry) bool {
	e := c.find(d.Step, "tool.denied", nil)
	if e == nil || d.FailureKind == "agent" || d.FailureKind == "platform" {
		return false
	}
	action := e.String("action")
	no := c.find(d.Step, "approval.denied", func(e verify.Entry) bool { return e.String("action") == action })
	if no != nil {
		c.show(d, *no)
	}
	c.show(d, *e)
	switch kind := e.String("kind"); {
	case kind == "consent" || failure.Data["consent"] == true && kind != "policy":
		d.Category = Spec
		d.say("high", "the call of "+action+" needs an approval, and nobody gave it",
			"approve it on a terminal, or beforehand with joy run --approve "+action)
	case kind == "input":
		d.Category = Spec
		d.say("high", "the step called "+action+" with arguments that the tool does not take", "correct the arguments that the skill gives to "+action)
	case kind == "policy" && no != nil:
		d.Category = Spec
		d.say("high", "the call of "+action+" needs an approval, and was refused: "+no.String("reason"),
			"run again and approve it, or keep the step from calling it")
	case kind == "policy":
		d.Category = Spec
		d.say("high", "the step called "+action+", which its plan does not let it: "+e.String("reason"),
			"when it should, grant it in joy.yaml and build again")
		if strings.Contains(e.String("reason"), "grant") {
			d.SpecChange = grantLines(d.Step, action)
		}
	default:
		d.say("medium", "a call of "+action+" was not made: "+e.String("reason"), "see that the connection works: joy check --ready")
	}
	return true
}

func toolDrifted(c *Case, d *Diagnosis, _ verify.Entry) bool {
	e := c.find(d.Step, "tool.drifted", nil)
	if e == nil {
		return false
	}
	d.Category = Connection
	c.show(d, *e)
	d.say("high", "the tool "+e.String("action")+" is not the one that the plan has pinned: its server changed it or took it away",
		"read what changed and pin it anew: joy build --update tools, then joy plan diff")
	return true
}

// noCredit is the status of HTTP for a payment that is due (RFC 9110, section 15.5.3).
var noCredit = regexp.MustCompile(`(?i)\b402\b.{0,20}payment required|\bstatus 402\b|\bHTTP 402\b`)

func callFailed(c *Case, d *Diagnosis, _ verify.Entry) bool {
	e := c.find(d.Step, "tool.returned", func(e verify.Entry) bool { return e.Data["failed"] == true || e.String("error") != "" })
	if e == nil || d.FailureKind != "connection" {
		return false
	}
	c.show(d, *e)
	action := e.String("action")
	if noCredit.MatchString(e.String("error")) {
		d.Category = Credits
		d.say("medium", action+" was refused for want of payment", "see to the account of that service, then run again")
		return true
	}
	d.Category = Connection
	d.say("high", "the call of "+action+" failed on the other side", "see what it answered (joy ledger show "+c.Run+" --type tool --full), and try the connection: joy check --ready")
	return true
}

// limits are the reasons that the VM gives for ending a step, and what of the VM would give the step more.
var limits = map[string][2]string{
	"oom":  {"the step needed more memory than there was", "memory"},
	"pids": {"the step started more processes than it may", ""},
	"disk": {"the step wrote more to the disk than its share", "disk"},
}

func hitLimit(c *Case, d *Diagnosis, _ verify.Entry) bool {
	e := c.find(d.Step, "command.finished", func(e verify.Entry) bool { _, known := limits[e.String("reason")]; return known })
	if e == nil {
		return false
	}
	d.Category = Spec
	c.show(d, *e)
	limit := limits[e.String("reason")]
	d.say("high", limit[0], "make the step need less")
	if had, ok := c.requested.Int(limit[1]); ok {
		d.Remediation = "make the step need less, or give the VM more"
		d.SpecChange = fmt.Sprintf("policy:\n  %s: %dMiB\n", limit[1], 2*had>>20)
	}
	return true
}

// wasNotGranted explains a program that failed after a call of it had been denied.
func wasNotGranted(c *Case, d *Diagnosis, _ verify.Entry) bool {
	e := c.find(d.Step, "tool.denied", nil)
	if e == nil || d.FailureKind != "agent" {
		return false
	}
	c.showCommand(d)
	c.show(d, *e)
	d.say("medium", "the step's program failed, and a call of "+e.String("action")+" had been denied to it: "+e.String("reason"),
		"when the step should make that call, grant it in joy.yaml and build again")
	if e.String("kind") == "policy" {
		d.SpecChange = grantLines(d.Step, e.String("action"))
	}
	return true
}

func hostWasDenied(c *Case, d *Diagnosis, _ verify.Entry) bool {
	e := c.find(d.Step, "egress.denied", func(e verify.Entry) bool { return e.String("host") != "" })
	if e == nil || d.FailureKind != "agent" && d.FailureKind != "policy" {
		return false
	}
	d.Category = Spec
	c.showCommand(d)
	c.show(d, *e)
	host, _, _ := strings.Cut(e.String("host"), ":")
	d.say("medium", "the step's program failed, and a connection to "+host+" had been denied to it: "+e.String("reason"),
		"when the step should reach that host, grant it in joy.yaml and build again")
	if d.FailureKind == "policy" {
		d.Confidence = "high"
	}
	d.SpecChange = "policy:\n  egress: [" + yaml(host) + "]\n"
	return true
}

// showCommand adds the command that failed to the evidence, and gives its last words.
func (c *Case) showCommand(d *Diagnosis) (words string) {
	end := c.find(d.Step, "command.finished", nil)
	if end == nil {
		return ""
	}
	of, _ := end.Int("of")
	if start := c.find(d.Step, "command.started", func(e verify.Entry) bool { return e.Seq == of }); start != nil {
		c.show(d, *start)
	}
	c.show(d, *end)
	if c.LastWords == nil {
		return ""
	}
	if said, ok := c.LastWords(*end); ok && said != "" {
		words = said
		d.Evidence = append(d.Evidence, Evidence{end.Seq, "stderr", d.Step, words})
	}
	return words
}

// exits are the statuses that a shell gives a command which it could not start (POSIX, 2.8.2).
var exits = map[int64]string{126: "the script, or a program that it calls, may not be executed", 127: "a program that the script calls is not there"}

func commandFailed(c *Case, d *Diagnosis, _ verify.Entry) bool {
	if d.FailureKind != "agent" {
		return false
	}
	end := c.find(d.Step, "command.finished", nil)
	if end == nil {
		return false
	}
	code, exited := end.Int("exit")
	if exited && code == 0 {
		return false
	}
	words := c.showCommand(d)
	look := "see all that it printed: joy ledger show " + c.Run + " --step " + d.Step + " --full"
	switch cause, known := exits[code]; {
	case known && exited:
		d.say("medium", cause+" (exit "+fmt.Sprint(code)+")", look+"; a program that the image has not can be installed by setup, or another image chosen")
	case words != "":
		d.say("medium", fmt.Sprintf("the step's own program failed (%s); the last it said: %s", ended(*end), words), look)
	default:
		d.say("low", Unsure, look+"; let the script say on stderr what goes wrong")
		d.UnsureReason = fmt.Sprintf("the step's own program failed (%s) and wrote nothing to stderr that was kept", ended(*end))
	}
	return true
}

func ended(end verify.Entry) string {
	if sig := end.String("signal"); sig != "" {
		return sig
	}
	if code, ok := end.Int("exit"); ok {
		return fmt.Sprintf("exit %d", code)
	}
	return "ended by " + end.String("ended_by")
}

// advice is what to do next when the failure's own words are all there is.
var advice = map[string]string{
	"agent":      "correct what the step answers; joy simulate shows what is expected of it",
	"input":      "give the run the input that its plan asks for: joy plan show",
	"connection": "see that the connection and its credential work: joy check --ready",
	"policy":     "see what the plan grants (joy plan show), and change joy.yaml when it should grant more",
	"platform":   "run joy doctor, then run the agent again",
}

// saysItself takes the failure at its word: what joy checked itself, it also names.
func saysItself(c *Case, d *Diagnosis, failure verify.Entry) bool {
	said := failure.String("error")
	if said == "" || advice[d.FailureKind] == "" {
		return false
	}
	if d.Step != "" {
		c.showCommand(d)
	}
	d.say("high", said, advice[d.FailureKind])
	if d.FailureKind == "platform" { // joy names what it saw, which need not be where it began
		d.Confidence = "medium"
	}
	return true
}

func unsure(c *Case, d *Diagnosis, failure verify.Entry) bool {
	d.say("low", Unsure, "look at the whole record: joy ledger show "+c.Run+" --full")
	d.UnsureReason = "entry " + fmt.Sprint(failure.Seq) + " says that it failed, and no entry says why"
	return true
}
