package plan

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/policy"
)

func (v *validator) steps() {
	v.hold(len(v.p.Steps) > 0 && len(v.p.Steps) <= MaxSteps, "steps", "a plan has 1 to %d steps, not %d", MaxSteps, len(v.p.Steps))
	ids := map[string]bool{}
	for _, s := range v.p.Steps {
		v.hold(idRule.MatchString(s.ID) && s.ID != "setup" && !ids[s.ID], s.ID, "step id %q is not valid, or there twice", s.ID)
		ids[s.ID] = true
	}
	for _, s := range v.p.Steps {
		if v.err != nil {
			return
		}
		v.kind(s)
		v.needs(s, ids)
		v.egress("step "+s.ID, s.Egress)
		v.hold(policy.CheckTimeout(s.Timeout) == nil, s.ID, "step %s: timeout %s is out of bounds", s.ID, s.Timeout)
		v.hold(slices.Contains([]string{"", "ask", "granted"}, s.Approve), s.ID, "step %s: approve %q is not known", s.ID, s.Approve)
	}
}

// kind holds what a run relies on: code of a bundle has a VM, and nothing but a bundle's own file is started in it.
func (v *validator) kind(s Step) {
	skill, known := v.p.Skill(s.Skill)
	o := s.Sandbox.Override
	v.hold(o == nil || o.Reason != "", s.ID, "step %s: the sandbox override has no reason", s.ID)
	switch s.Kind {
	case Script:
		v.hold(known && s.Action == "", s.ID, "step %s: no skill %q in this lock", s.ID, s.Skill)
		v.hold(s.Sandbox.Required && s.NeedsVM(), s.ID, "step %s runs code: it must have a sandbox", s.ID)
		v.entry(s, skill)
	case Prompt:
		v.hold(known && s.Action == "", s.ID, "step %s: no skill %q in this lock", s.ID, s.Skill)
		v.hold(s.Entry == nil, s.ID, "step %s: a model step has no entry", s.ID)
	case Action:
		v.action(s, s.Action)
		v.hold(s.Skill == "" && s.Entry == nil && len(s.Tools) == 0, s.ID, "step %s: an action has no skill, entry or tools", s.ID)
		v.hold(!s.Sandbox.Required && o == nil, s.ID, "step %s: an action has no sandbox", s.ID)
	default:
		v.hold(false, s.Kind, "step %s: kind %q is not known", s.ID, s.Kind)
	}
	for _, g := range s.Tools {
		v.action(s, g.Action)
		v.hold(g.MaxCalls >= 0 && isObject(g.With), s.ID, "step %s: the grant of %s is malformed", s.ID, g.Action)
	}
}

func (v *validator) entry(s Step, skill Skill) {
	if s.Entry == nil {
		v.hold(false, s.ID, "step %s: a script step has an entry", s.ID)
		return
	}
	own := func(f File) bool { return f.Path == s.Entry.Path }
	v.hold(slices.ContainsFunc(skill.Files, own), s.Entry.Path, "step %s: the entry %q is no file of skill %s", s.ID, s.Entry.Path, s.Skill)
	v.command(s.Entry.Argv, "step "+s.ID)
}

// command holds that there is something to start a script with, and that no word of it ends early.
func (v *validator) command(argv []string, who string) {
	v.hold(len(argv) > 0 && !slices.Contains(argv, ""), who, "%s: there is no command that starts the script", who)
	for _, a := range argv {
		v.hold(!strings.ContainsRune(a, 0), who, "%s: a NUL in the command", who)
	}
}

func (v *validator) action(s Step, action string) {
	conn, tool, _ := strings.Cut(action, ".")
	c, ok := v.p.Connections[conn]
	_, pinned := c.Tools[tool]
	v.hold(ok && pinned, s.ID, "step %s: %q is no tool pinned in this lock", s.ID, action)
}

func (v *validator) needs(s Step, ids map[string]bool) {
	for i, n := range s.Needs {
		v.hold(ids[n], n, "step %s needs %q, which is no step", s.ID, n)
		v.hold(i == 0 || s.Needs[i-1] < n, s.ID, "step %s: needs are not in order", s.ID)
	}
	v.hold(isObject(s.With), s.ID, "step %s: with is not an object", s.ID)
	refs, err := StepRefs(s.With)
	v.hold(err == nil, s.ID, "step %s: %v", s.ID, err)
	for _, r := range refs {
		v.hold(r.Step == "" || slices.Contains(s.Needs, r.Step), s.ID, "step %s refers to %q without needing it", s.ID, r.Step)
	}
}

// StepRefs lists the references in every string of a step's with. The error is a *RefError or malformed JSON.
func StepRefs(with json.RawMessage) ([]Ref, error) {
	tree, err := decode(with)
	if err != nil {
		return nil, err
	}
	var out []Ref
	var walk func(v any) error
	walk = func(v any) error {
		switch t := v.(type) {
		case string:
			refs, err := Refs(t)
			out = append(out, refs...)
			return err
		case []any:
			for _, e := range t {
				if err := walk(e); err != nil {
					return err
				}
			}
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(t)) {
				if err := walk(t[k]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return out, walk(tree)
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }
