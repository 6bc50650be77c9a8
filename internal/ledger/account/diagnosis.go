package account

import (
	"fmt"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// Unsure is the root cause of a run whose ledger does not tell why it failed.
const Unsure = "unsure"

// Categories of a failure: who can do something about it.
const (
	Spec       = "spec"       // the author: the agent, its skills or what its plan grants
	Connection = "connection" // whoever looks after an outside service or its credential
	Input      = "input"      // whoever started the run
	Credits    = "credits"    // whoever pays for an outside service
	Platform   = "platform"   // whoever looks after joy's machine
	Unknown    = "unknown"
)

// Evidence is an entry, or what one names, that a diagnosis rests on.
type Evidence struct {
	Seq  int64  `json:"seq"`
	Type string `json:"type"`
	Step string `json:"step,omitempty"`
	Says string `json:"says"`
}

// Diagnosis is why a run failed, as far as its ledger tells.
type Diagnosis struct {
	Run          string     `json:"run"`
	Outcome      string     `json:"outcome"`              // "" when the run did not finish
	FailureKind  string     `json:"failure_kind"`         // as the ledger has it; "" when it has none
	RootCause    string     `json:"root_cause"`           // a sentence, or Unsure; "" when nothing failed
	Category     string     `json:"category"`             // one of the categories; "" when nothing failed
	Remediation  string     `json:"remediation"`          // what to do next
	Confidence   string     `json:"confidence"`           // high, medium, low: in the root cause; "" when nothing failed
	UnsureReason string     `json:"unsure_reason"`        // with Unsure: what is missing
	SpecChange   string     `json:"proposed_spec_change"` // lines of joy.yaml; "" when none would help
	Step         string     `json:"step,omitempty"`       // the first that failed
	Evidence     []Evidence `json:"evidence"`
	Skipped      []string   `json:"skipped"` // steps that were not begun because of it; the first 2000
}

// Says gives an entry's own words for evidence.
type Says func(verify.Entry) string

// Case collects what a diagnosis needs of a ledger: the entries of one kind or another that can matter, at most maxKept of
// a step and maxAllKept of all, with their texts cut. A step that succeeded can be no reason.
type Case struct {
	Run       string
	Live      bool                                  // it is still going on
	Says      Says                                  // nil: Text
	LastWords func(end verify.Entry) (string, bool) // the last line that a command wrote to stderr; nil: nobody knows

	started, finished *verify.Entry
	steps             map[string][]verify.Entry
	kept              int
	lost              []verify.Entry // VMs that were lost, or may be alive
	failed            []verify.Entry // step.finished
	skipped           []string
	requested         verify.Entry // of the VM
	last              verify.Entry
}

// maxKept is how many entries of a step can be evidence, of more the last; maxAllKept of all steps together, of more the last
// half of each.
const (
	maxKept    = 1000
	maxAllKept = 10_000
	maxFailed  = 100
	maxSkipped = 2000 // steps of a plan: plan.MaxSteps
	maxOpen    = 100
)

// Add takes the ledger's entries one after the other.
func (c *Case) Add(e verify.Entry) {
	if c.steps == nil {
		c.steps = map[string][]verify.Entry{}
	}
	e = brief(e)
	c.last = e
	switch e.Type {
	case "run.started":
		c.started = &e
	case "run.finished":
		c.finished = &e
	case "sandbox.requested":
		c.requested = e
	case "sandbox.lost":
		c.lost = upTo(maxFailed, c.lost, e)
	case "sandbox.destroyed":
		if e.Data["verified"] == false {
			c.lost = upTo(maxFailed, c.lost, e)
		}
	case "step.finished":
		if e.String("status") == "failed" && len(c.failed) < maxFailed {
			c.failed = append(c.failed, e)
		} else {
			c.forget(e.Step)
		}
	case "step.skipped":
		c.skipped = upTo(maxSkipped, c.skipped, e.Step)
	case "command.started", "command.finished", "tool.requested", "tool.returned", "tool.denied", "tool.drifted",
		"approval.denied", "egress.denied", "artifact.quarantined":
		c.keep(e)
	}
}

// keep holds what can be evidence.
func (c *Case) keep(e verify.Entry) {
	kept := append(c.steps[e.Step], e)
	c.kept++
	if len(kept) > maxKept {
		c.kept -= len(kept) - maxKept
		kept = kept[len(kept)-maxKept:]
	}
	c.steps[e.Step] = kept
	if c.kept <= maxAllKept {
		return
	}
	for step, kept := range c.steps {
		if half := len(kept) / 2; half > 0 {
			c.steps[step] = slices.Clone(kept[half:])
			c.kept -= half
		} else if step != e.Step {
			c.forget(step)
		}
	}
}

// forget drops what was kept of a step, unless it failed.
func (c *Case) forget(step string) {
	if step != "" && !slices.ContainsFunc(c.failed, func(e verify.Entry) bool { return e.Step == step }) {
		c.kept -= len(c.steps[step])
		delete(c.steps, step)
	}
}

func upTo[T any](limit int, list []T, v T) []T {
	if len(list) < limit {
		list = append(list, v)
	}
	return list
}

// Diagnose says why the run failed. open are the starts without an end, as verify.Check reports them.
func (c *Case) Diagnose(open []verify.Open) Diagnosis {
	d := Diagnosis{Run: c.Run, Evidence: []Evidence{}, Skipped: append([]string{}, c.skipped...)}
	switch {
	case c.finished == nil:
		c.unfinished(&d, open)
		return d
	case c.finished.String("outcome") == "succeeded":
		d.Outcome, d.Remediation = "succeeded", "nothing: the run did what its plan says"
		return d
	}
	d.Outcome, d.FailureKind = c.finished.String("outcome"), c.finished.String("failure_kind")
	d.Step = c.finished.String("step")
	failure := *c.finished
	for _, e := range c.failed {
		if d.Step == "" || e.Step == d.Step {
			failure, d.Step = e, e.Step
			break
		}
	}
	d.Category = categories[d.FailureKind]
	if d.Category == "" {
		d.Category = Unknown
	}
	for _, rule := range rules {
		if rule(c, &d, failure) {
			break
		}
	}
	c.show(&d, failure)
	return d
}

// categories is what a kind of failure means when no entry says more.
var categories = map[string]string{
	"agent": Spec, "input": Input, "connection": Connection, "policy": Spec, "platform": Platform,
}

// unfinished is what can be said of a run without an end.
func (c *Case) unfinished(d *Diagnosis, open []verify.Open) {
	d.RootCause, d.Category, d.Confidence = Unsure, Unknown, "low"
	if c.Live {
		d.UnsureReason = "the run is still going on"
		d.Remediation = "wait for its end: joy ledger show " + c.Run + " --follow"
		return
	}
	d.UnsureReason = "the ledger has no run.finished: joy was ended in the middle of the run, or the end of the ledger was cut off"
	d.Remediation = "run joy gc, which destroys what the run may have left, then run the agent again"
	for i, o := range open {
		if i == maxOpen {
			says := fmt.Sprintf("this entry and %d more have no end: joy ledger verify --json lists them", len(open)-i-1)
			d.Evidence = append(d.Evidence, Evidence{o.Seq, o.Type, o.Step, says})
			break
		}
		d.Evidence = append(d.Evidence, Evidence{o.Seq, o.Type, o.Step, "has no end: its outcome is unknown"})
	}
	if c.last.Seq > 0 {
		c.show(d, c.last)
	}
}

func (c *Case) show(d *Diagnosis, e verify.Entry) {
	for _, known := range d.Evidence {
		if known.Seq == e.Seq {
			return
		}
	}
	says := Text
	if c.Says != nil {
		says = c.Says
	}
	d.Evidence = append(d.Evidence, Evidence{e.Seq, e.Type, e.Step, says(e)})
}

// find is the last entry of the failed step that ok takes.
func (c *Case) find(step, typ string, ok func(verify.Entry) bool) *verify.Entry {
	kept := c.steps[step]
	for i := len(kept) - 1; i >= 0; i-- {
		if kept[i].Type == typ && (ok == nil || ok(kept[i])) {
			return &kept[i]
		}
	}
	return nil
}

// say sets what a rule found.
func (d *Diagnosis) say(confidence, cause, remedy string) {
	d.Confidence, d.RootCause, d.Remediation = confidence, cause, remedy
}

func stepOf(step string) string {
	if step == "" {
		return "the run"
	}
	return "step " + step
}

// yaml quotes a stranger's text for a line of joy.yaml.
func yaml(text string) string {
	return "\"" + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + "\""
}

func grantLines(step, action string) string {
	return fmt.Sprintf("steps:\n  - id: %s\n    tools:\n      - {action: %s}\n", step, yaml(action))
}
