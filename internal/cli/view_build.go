package cli

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/plan"
)

// buildView is what joy build shows: marks, a line of counts, the next command.
type buildView struct {
	to       *ui
	Schema   string         `json:"schema"`
	Lock     string         `json:"lock"`
	Written  bool           `json:"written"`
	Digest   string         `json:"plan_digest"`
	Counts   planCounts     `json:"counts"`
	Changes  []plan.Change  `json:"changes"`
	Findings []plan.Finding `json:"findings"`
	Notes    []string       `json:"notes"`
	only     *plan.Step     // the only step in the VM, which the counts explain
	named    bool           // an image is pinned, or none is needed
	profile  string
	dir      string // as an argument: " DIR", or "" where joy works
	run      string // the command that runs the plan
}

type planCounts struct {
	Steps  int `json:"steps"`
	VM     int `json:"vm"`
	Skills int `json:"skills"`
	Files  int `json:"files"`
	Tools  int `json:"tools"`
}

func newBuildView(to *ui, in project, old *plan.Plan, res *build.Result, written bool) buildView {
	p := res.Plan
	v := buildView{
		to: to, Schema: "joy.build/1", Lock: in.lockName, Written: written, Digest: p.Digest,
		Counts: planCounts{Steps: len(p.Steps), Skills: len(p.Skills)}, Changes: []plan.Change{},
		Findings: notNil(res.Findings), Notes: notNil(res.Notes), profile: p.Image.Profile,
	}
	if in.shown != "." {
		v.dir = " " + in.shown
	}
	v.run = runCommand(p, v.dir)
	for _, s := range p.Skills {
		v.Counts.Files += len(s.Files)
	}
	for _, c := range p.Connections {
		v.Counts.Tools += len(c.Tools)
	}
	for i, s := range p.Steps {
		if s.NeedsVM() {
			v.Counts.VM++
			v.only = &p.Steps[i]
		}
	}
	if v.Counts.VM != 1 {
		v.only = nil
	}
	v.named = v.Counts.VM == 0 || p.Image.Microvm != (plan.Pins{})
	if old != nil {
		v.Changes = notNil(plan.Compare(old, p))
		return v
	}
	for _, s := range p.Steps {
		v.Changes = append(v.Changes, plan.Change{Group: "step " + s.ID, What: "step " + s.ID, After: inWords(s)})
	}
	return v
}

// inWords says what a step is and why it is, or is not, in the VM.
func inWords(s plan.Step) string {
	where := "no VM"
	if s.NeedsVM() {
		where = "in the VM"
	}
	return fmt.Sprintf("%s %s, %s: %s", s.Kind, s.Skill+s.Action, where, why(s))
}

// why is the first reason of a step's determination.
func why(s plan.Step) string {
	switch {
	case s.Sandbox.Override != nil:
		return "the author says so: " + s.Sandbox.Override.Reason
	case s.Kind == plan.Action:
		return "an action is called from outside"
	case len(s.Sandbox.Evidence) == 0:
		return "no evidence"
	}
	return s.Sandbox.Evidence[0].Detail
}

func (a *app) showBuild(v buildView) error {
	if a.json {
		return a.printJSON(v)
	}
	a.sayFindings(v.Findings, v.Notes)
	if v.to == a.err && a.quiet {
		return nil // the lock itself is the product
	}
	if err := a.printChanges(v.to, v.Changes); err != nil {
		return err
	}
	state := "unchanged"
	if v.Written {
		state = "written"
	} else if v.to == a.err {
		state = "not written"
	}
	vm := fmt.Sprintf("%d in the VM", v.Counts.VM)
	if v.only != nil {
		vm += fmt.Sprintf(" (%s: %s)", v.only.ID, a.line(why(*v.only)))
	}
	_, err := fmt.Fprintf(v.to, "%s %s, %s\nPlan: %s, %s, %s with %s pinned, %s pinned, %s\n",
		a.line(v.Lock), state, v.Digest[:len("sha256:")+12],
		count(v.Counts.Steps, "step"), vm, count(v.Counts.Skills, "skill"), count(v.Counts.Files, "file"),
		count(v.Counts.Tools, "tool"), count(len(v.Changes), "change"))
	if err != nil || v.to == a.err {
		return err
	}
	if !v.named {
		a.say("next: joy image build --profile %s && joy build%s --update image", v.profile, a.line(v.dir))
	} else {
		a.say("next: %s", a.line(v.run))
	}
	return nil
}

// printChanges prints one line each, marked + ~ -, with ! behind what lets a run do more.
func (a *app) printChanges(to *ui, changes []plan.Change) error {
	for _, c := range changes {
		line := a.line(a.shown(c.String()))
		style := map[byte]lipgloss.Style{'+': to.good, '~': to.warn, '-': to.fail}[line[0]]
		line = style.Render(line[:1]) + line[1:]
		if c.Widens != "" {
			line += to.fail.Render("  ! " + c.Widens)
		}
		if _, err := fmt.Fprintln(to, line); err != nil {
			return err
		}
	}
	return nil
}

// sayFindings tells on stderr what a person should know; notes on bundles only with -v.
func (a *app) sayFindings(findings []plan.Finding, notes []string) {
	for _, f := range findings {
		where := f.File
		if f.Line > 0 {
			where += fmt.Sprintf(":%d", f.Line)
		}
		if f.Col > 0 {
			where += fmt.Sprintf(":%d", f.Col)
		}
		text := a.line(strings.TrimSpace(fmt.Sprintf("%s (%s, %s)", f.Message, where, f.Rule)))
		if f.Severity == "note" {
			a.detail("%s %s", a.err.note.Render("note:"), text)
		} else {
			a.warn("%s", text)
		}
	}
	for _, n := range notes {
		a.say("%s %s", a.err.note.Render("note:"), a.line(n))
	}
}
