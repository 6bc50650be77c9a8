package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// stepJSON is a step of the lock with what the run acts on.
type stepJSON struct {
	plan.Step
	VM   bool   `json:"vm"` // the author's override, else the determination
	Wave int    `json:"wave"`
	Why  string `json:"why"`
}

type planJSON struct {
	Schema string          `json:"schema"`
	Lock   string          `json:"lock"`
	Digest string          `json:"plan_digest"`
	Agent  plan.Agent      `json:"agent"`
	Image  plan.Image      `json:"image"`
	Policy json.RawMessage `json:"policy"`
	Setup  *plan.Setup     `json:"setup"`
	Steps  []stepJSON      `json:"steps"`
	Signed signatureJSON   `json:"signature"`
	// Connections are the plan's, with the definitions that a reviewer reads.
	Connections map[string]plan.Connection `json:"connections"`
}

func (a *app) showPlan(t *target, signed signatureJSON) error {
	p := t.plan
	steps := stepViews(p)
	if a.json {
		policy, err := json.Marshal(p.Policy)
		if err != nil {
			return err
		}
		return a.printJSON(planJSON{"joy.plan/1", t.name, p.Digest, p.Agent, p.Image, policy, p.Setup, steps, signed, p.Connections})
	}
	tab := a.out.newTable("STEP", "KIND", "NEEDS", "VM", "WHY")
	inVM := 0
	for _, s := range steps {
		vm := cell{text: "no"}
		if s.VM {
			vm = cell{text: "yes", style: &a.out.warn}
			inVM++
		}
		needs := strings.Join(s.Needs, " ")
		if needs == "" {
			needs = "-"
		}
		tab.row(cell{text: s.ID}, cell{text: s.Kind}, cell{text: needs}, vm, cell{text: s.Why})
	}
	if err := tab.print(); err != nil {
		return err
	}
	if s := p.Setup; s != nil {
		_, err := fmt.Fprintf(a.out, "\nsetup: %s %s, once before the first step in the VM; network: %s; at most %s\n",
			term.Line(strings.Join(s.Argv, " ")), term.Line(s.Run.Path), orNone(s.Egress), s.Timeout)
		if err != nil {
			return err
		}
	}
	if err := a.printConnections(p); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "\n%s in workspace %s, %s\n%s%s: %s, %d in the VM\n", p.Agent.Name, p.Agent.Workspace, p.Digest,
		signed, term.Line(t.name), count(len(steps), "step"), inVM)
	return err
}

// String is a line for each signer, or nothing.
func (s signatureJSON) String() string {
	if s.Problem != "" {
		return "signature: " + term.Line(s.Problem) + "\n"
	}
	var b strings.Builder
	for _, by := range s.Signers {
		how := "not verified: joy plan verify --key PUB"
		if by.Verified {
			how = "your key"
		}
		fmt.Fprintf(&b, "signed by %s (%s)\n", term.Line(by.Name+"+"+by.Hash), how)
	}
	return b.String()
}

// stepViews lists the steps in the order they can run.
func stepViews(p *plan.Plan) []stepJSON {
	var out []stepJSON
	for i, wave := range plan.Waves(p) {
		for _, id := range wave {
			s, _ := p.Step(id)
			out = append(out, stepJSON{s, s.NeedsVM(), i + 1, why(s)})
		}
	}
	return out
}

// showWhy prints one step in full.
func (a *app) showWhy(t *target, s plan.Step) error {
	view := stepJSON{Step: s, VM: s.NeedsVM(), Why: why(s)}
	for _, v := range stepViews(t.plan) {
		if v.ID == s.ID {
			view.Wave = v.Wave
		}
	}
	if a.json {
		return a.printJSON(struct {
			Schema string `json:"schema"`
			stepJSON
		}{"joy.plan-step/1", view})
	}
	var b strings.Builder
	line := func(key, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s %s\n", key, term.Line(fmt.Sprintf(format, args...)))
	}
	line("step", "%s (%s %s)", s.ID, s.Kind, s.Skill+s.Action)
	if s.Entry != nil {
		line("entry", "%s %s", strings.Join(s.Entry.Argv, " "), s.Entry.Path)
	}
	line("needs", "%s", orNothing(s.Needs))
	line("with", "%s", s.With)
	line("egress", "%s", orNothing(s.Egress))
	if s.Kind == plan.Action {
		line("arguments", "%s", argumentsOf(t.plan, s.Action, nil))
		line("approval", "%s", approvalOf(t.plan, s, s.Action))
	}
	for _, g := range s.Tools {
		calls := "any number of calls"
		if g.MaxCalls > 0 {
			calls = fmt.Sprintf("at most %d calls", g.MaxCalls)
		}
		line("tool", "%s with %s, %s; left to the step: %s; %s", g.Action, g.With, calls,
			argumentsOf(t.plan, g.Action, g.With), approvalOf(t.plan, s, g.Action))
	}
	line("timeout", "%s", s.Timeout)
	line("vm", "%s; the bundle says %s", yesNo(view.VM), yesNo(s.Sandbox.Required))
	if o := s.Sandbox.Override; o != nil {
		line("override", "%s: %s", yesNo(o.Required), o.Reason)
	}
	for _, e := range s.Sandbox.Evidence {
		line("evidence", "%s:%d %s (%s)", e.File, e.Line, e.Detail, e.Rule)
	}
	_, err := a.out.Write([]byte(b.String()))
	return err
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
