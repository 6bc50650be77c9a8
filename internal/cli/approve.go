package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"slices"
	"strings"
	"sync"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// approver decides about calls that need approval: by the flags of the command line, or by asking the person at the
// terminal.
type approver struct {
	app     *app
	plan    *plan.Plan
	granted []string   // actions, of --approve
	asking  sync.Mutex // one question at a time
}

// decide is a broker.Approver.
func (p *approver) decide(ctx context.Context, ap broker.Approval) (string, error) {
	if slices.Contains(p.granted, ap.Action) {
		return who() + ", by --approve", nil
	}
	if !p.app.canAsk() {
		return "", unapproved(ap.Step, ap.Action, "it needs approval, and there is nobody to ask")
	}
	p.asking.Lock()
	defer p.asking.Unlock()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	answer, err := p.app.ask(ctx, p.question(ap))
	switch {
	case err != nil:
		return "", err
	case answer != ap.Step:
		return "", fault.New(fault.Policy, "%s did not approve the call of %s", who(), ap.Action)
	}
	return who() + ", typed", nil
}

// Bounds of what is shown of a call. Every cut says how much it hides.
const (
	maxShownLine  = 400 // characters
	maxShownLines = 120
)

// question is all that a person needs to decide: what is sent, where, and as whom.
func (p *approver) question(ap broker.Approval) string {
	var b strings.Builder
	ui := p.app.err
	fmt.Fprintf(&b, "\n%s step %s asks to call %s\n", ui.warn.Render("approval:"), ui.bold.Render(term.Line(ap.Step)), ui.bold.Render(term.Line(ap.Action)))
	fmt.Fprintf(&b, "  to    %s\n  as    %s\n", term.Line(ap.Destination), term.Line(p.identity(ap.Action)))
	for i, line := range shownArguments(ap.Arguments) {
		lead := "      "
		if i == 0 {
			lead = "with  "
		}
		fmt.Fprintf(&b, "  %s%s\n", lead, line)
	}
	fmt.Fprintf(&b, "It is good for this one call, for %d minutes. Type %s to send exactly this; anything else refuses it: ",
		int(broker.ApprovalLimit.Minutes()), ui.bold.Render(term.Line(ap.Step)))
	return b.String()
}

// identity names the secrets that go with a call.
func (p *approver) identity(action string) string {
	name, _, _ := strings.Cut(action, ".")
	var with []string
	secrets := p.plan.Connections[name].Secrets
	for _, as := range slices.Sorted(maps.Keys(secrets)) {
		with = append(with, secrets[as]+" ("+as+")")
	}
	if len(with) == 0 {
		return "nobody: the connection is given no secret"
	}
	return strings.Join(with, ", ")
}

// shownArguments are the arguments on lines of their own, in the order in which they are sent. Nothing in them can act on
// a terminal or hide.
func shownArguments(args json.RawMessage) []string {
	var indented bytes.Buffer
	if json.Indent(&indented, args, "", "  ") != nil {
		indented.Reset()
		indented.Write(args)
	}
	lines := strings.Split(indented.String(), "\n")
	rest := 0
	if len(lines) > maxShownLines {
		for _, l := range lines[maxShownLines:] {
			rest += len(l)
		}
		hidden := len(lines) - maxShownLines
		lines = append(lines[:maxShownLines:maxShownLines], fmt.Sprintf("[cut here: %d more lines, %d bytes]", hidden, rest))
	}
	for i, l := range lines {
		lines[i] = shownLine(l)
	}
	return lines
}

func shownLine(line string) string {
	runes := []rune(line)
	if len(runes) <= maxShownLine {
		return term.Line(line)
	}
	shown := string(runes[:maxShownLine])
	return fmt.Sprintf("%s [cut here: %d bytes more]", term.Line(shown), len(line)-len(shown))
}

// who is the person that runs joy, as the record names them.
func who() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return clean(name + "@" + host)
}

// wants is one action of a step that needs a person's approval.
type wants struct{ step, action, why string }

// approvals lists what needs approval in a plan: for a step that may ask for it, whether it will or not.
func approvals(p *plan.Plan) (out []wants) {
	for _, s := range p.Steps {
		actions := []string{s.Action}
		if s.Action == "" {
			actions = nil
		}
		for _, g := range s.Tools {
			actions = append(actions, g.Action)
		}
		for _, action := range actions {
			if !p.Asks(s, action) {
				continue
			}
			why := "its server does not say that it only reads"
			if s.Approve == "ask" {
				why = "the step says approve: ask"
			} else if p.Policy.Approvals == "ask-all" {
				why = "policy.approvals is ask-all"
			}
			out = append(out, wants{s.ID, action, why})
		}
	}
	return out
}

// refuseUnapproved refuses a plan that would ask somebody who is not there, before anything of it starts, and flags that
// approve of nothing in it.
func (a *app) refuseUnapproved(p *plan.Plan, granted []string) error {
	needed := approvals(p)
	var errs []error
	for _, action := range granted {
		if !slices.ContainsFunc(needed, func(w wants) bool { return w.action == action }) {
			errs = append(errs, a.needless(needed, action))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	for _, w := range needed {
		if !a.canAsk() && !slices.Contains(granted, w.action) {
			errs = append(errs, unapproved(w.step, w.action, fmt.Sprintf("step %s calls %s, which needs approval (%s), and there is nobody to ask", w.step, w.action, w.why)))
		}
	}
	return errors.Join(errs...)
}

func unapproved(step, action, text string) error {
	e := fault.New(fault.Consent, "%s", text)
	e.Code = broker.CodeApproval
	return e.WithHint("joy run --approve %s; or in joy.yaml, on the step: {id: %s, …, approve: granted}", action, step)
}

// needless is a flag for an action that no step has to ask for.
func (a *app) needless(needed []wants, action string) error {
	var names []string
	for _, w := range needed {
		names = append(names, w.action)
	}
	e := fault.New(fault.Input, "--approve %s: no step of this plan needs approval for it", action)
	if len(names) == 0 {
		return e.WithHint("leave it out: the plan needs no approval")
	}
	return e.WithHint("the plan needs approval for %s", strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), ", "))
}
