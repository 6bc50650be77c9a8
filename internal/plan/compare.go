package plan

import (
	"fmt"
	"path"
	"reflect"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

// Change is one difference between two plans, in words. Before is empty for what was added, After for what was removed.
type Change struct {
	Group  string `json:"group"` // the part of the plan, such as "policy" or "step fetch"
	What   string `json:"what"`  // the whole name, such as "policy.memory" or "skill count: file scripts/count.py"
	Before string `json:"before"`
	After  string `json:"after"`
	Widens string `json:"widens,omitempty"` // why a run may do more than before; empty when it may not
	File   string `json:"file,omitempty"`   // of the project, when the change is one of its bytes or mode
}

// Mark is + for what was added, - for what was removed, ~ for what changed.
func (c Change) Mark() string {
	switch {
	case c.Before == "":
		return "+"
	case c.After == "":
		return "-"
	}
	return "~"
}

func (c Change) String() string {
	switch c.Mark() {
	case "+":
		return fmt.Sprintf("+ %s: %s", c.What, c.After)
	case "-":
		return fmt.Sprintf("- %s: %s", c.What, c.Before)
	}
	return fmt.Sprintf("~ %s: %s → %s", c.What, c.Before, c.After)
}

// Compare lists what differs from old to new, in the order of the lock. plan_digest and lock_version are left out: they
// follow from the rest. It is empty exactly when nothing else differs.
func Compare(old, new *Plan) []Change {
	old, new = alike(old), alike(new)
	c := &comparison{}
	c.in("rules").value("rules", "rules", old.Rules, new.Rules)
	c.in("agent").fields("agent", "agent", old.Agent, new.Agent)
	c.in("inputs").value("inputs", "inputs", old.Inputs, new.Inputs)
	section(c.in("model"), "model", old.Model, new.Model)
	c.in("triggers").value("triggers", "triggers", old.Triggers, new.Triggers)
	c.in("policy").fields("policy", "policy", old.Policy, new.Policy)
	section(c.in("setup"), "setup", old.Setup, new.Setup)
	c.skills(old.Skills, new.Skills)
	c.connections(old.Connections, new.Connections)
	c.in("image").fields("image", "image", old.Image, new.Image)
	rule := func(a Allow) string { return a.Rule + " in " + a.File }
	named(c.in("allow"), "allow", "allow", keyed(old.Allow, rule), keyed(new.Allow, rule), nil, nil)
	c.steps(old.Steps, new.Steps)
	if len(c.out) == 0 && !same(*old, *new) { // such as a list that holds one thing twice
		c.in("lock").add("lock", digestOf(old), digestOf(new), "")
	}
	return c.out
}

// Nothing is a plan with the name and the place of p that does nothing: what a first plan is compared with.
func Nothing(p *Plan) *Plan {
	return &Plan{LockVersion: p.LockVersion, Rules: p.Rules, Agent: p.Agent, Inputs: p.Inputs, Policy: policy.Default(), Image: Image{Profile: p.Image.Profile}}
}

// same compares copies, without what follows from the rest.
func same(a, b Plan) bool {
	a.Digest, b.Digest, a.LockVersion, b.LockVersion = "", "", 0, 0
	return reflect.DeepEqual(a, b)
}

func digestOf(p *Plan) string {
	d, err := Digest(p)
	if err != nil {
		return err.Error()
	}
	return d
}

// alike is p with one spelling for equal values; a plan that has none is compared as it is.
func alike(p *Plan) *Plan {
	if n, err := normal(p); err == nil {
		return &n
	}
	return p
}

// comparison collects changes. In all its methods what names the thing for people and kind the rule of the table
// widening that judges it.
type comparison struct {
	out   []Change
	group string
	dir   string // of the files that are being compared
}

func (c *comparison) in(group string) *comparison {
	c.group = group
	return c
}

func (c *comparison) add(what, before, after, widens string) {
	if before != after {
		c.out = append(c.out, Change{Group: c.group, What: what, Before: before, After: after, Widens: widens})
	}
}

// placed names the file of what was added to out from n on: path, below dir.
func (c *comparison) placed(n int, dir string, pins ...any) {
	for _, pin := range pins {
		if f, ok := pin.(File); ok && f.Path != "" && len(c.out) > n {
			c.out[n].File = path.Join(dir, f.Path)
		}
	}
}

// value compares by what the lock would hold, so that nil and empty are the same.
func (c *comparison) value(what, kind string, before, after any) {
	widens := ""
	if judge := widening[kind]; judge != nil {
		widens = judge(before, after)
	}
	n := len(c.out)
	c.add(what, words(before), words(after), widens)
	c.placed(n, c.dir, before, after)
}

// fields compares two structs key by key, by the names the lock uses.
func (c *comparison) fields(what, kind string, before, after any) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		c.field(what+"."+key, kind+"."+key, a.Field(i).Interface(), b.Field(i).Interface())
	}
}

// field goes into what has parts of its own.
func (c *comparison) field(what, kind string, before, after any) {
	switch a := before.(type) {
	case []string:
		if !ordered[kind] {
			alone := func(s string) (string, string) { return "", s }
			listed(c, what, kind, a, after.([]string), alone) //nolint:forcetypeassert // both are the same field
			return
		}
	case File, Sandbox:
	default:
		if reflect.TypeOf(before).Kind() == reflect.Struct {
			c.fields(what, kind, before, after)
			return
		}
	}
	c.value(what, kind, before, after)
}

// ordered are the lists whose order means something.
var ordered = map[string]bool{"connection.argv": true, "setup.argv": true}

// section compares key by key what both have.
func section[T any](c *comparison, kind string, before, after *T) {
	switch {
	case before != nil && after != nil:
		c.fields(kind, kind, *before, *after)
	case after != nil:
		c.add(kind, "", words(after), appears(kind, nil, *after))
	case before != nil:
		c.add(kind, words(before), "", "")
	}
}

func (c *comparison) skills(old, new []Skill) {
	name := func(s Skill) string { return s.Name }
	named(c, "skill", "skill", keyed(old, name), keyed(new, name), func(what string, a, b Skill) {
		before := len(c.out)
		c.dir = b.Path
		named(c, what+": file", "file", keyed(a.Files, filePath), keyed(b.Files, filePath), nil, nil)
		c.dir = ""
		if len(c.out) > before {
			a.Digest, b.Digest = "", "" // the files say it already
		}
		listed(c, what+": finding", "finding", a.Findings, b.Findings, func(f Finding) (string, string) {
			return fmt.Sprintf("%s %s:%d", f.Rule, f.File, f.Line), f.Severity + ": " + f.Message
		})
		a.Files, b.Files, a.Findings, b.Findings = nil, nil, nil, nil
		c.fields(what, "skill", a, b)
	}, nil)
	order(c, "skills", old, new, name)
}

func filePath(f File) string { return f.Path }

func (c *comparison) steps(old, new []Step) {
	id := func(s Step) string { return s.ID }
	grants := func(what string, a, b Step) {
		action := func(g Grant) string { return g.Action }
		named(c, what+": tool", "grant", keyed(a.Tools, action), keyed(b.Tools, action), func(what string, a, b Grant) {
			c.fields(what, "grant", a, b)
		}, nil)
		c.field(what+".egress", "step.egress", a.Egress, b.Egress)
	}
	named(c, "step", "step", keyed(old, id), keyed(new, id), func(what string, a, b Step) {
		grants(what, a, b)
		a.Tools, b.Tools, a.Egress, b.Egress = nil, nil, nil, nil
		c.fields(what, "step", a, b)
	}, func(what string, b Step) { grants(what, Step{}, b) })
	order(c, "steps", old, new, id)
}
