package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

const maxCalls = 1_000_000

func (r *reader) connections(n *yaml.Node) map[string]Connection {
	out := map[string]Connection{}
	r.each(n, "connections", nameRule, func(name string, k, v *yaml.Node) {
		c := Connection{Pos: place(k), Env: map[string]string{}}
		r.object(v, "connection "+name, []field{
			{"command", false, func(n *yaml.Node) { c.Command = r.strings(n, "command") }},
			{"env", false, func(n *yaml.Node) {
				r.each(n, "env", envRule, func(key string, _, v *yaml.Node) { c.Env[key] = r.secret(v, key) })
			}},
			{"url", false, func(n *yaml.Node) { c.URL = r.url(n, "url") }},
			{"bearer", false, func(n *yaml.Node) { c.Bearer = r.secret(n, "bearer") }},
			{"unconfined", false, func(n *yaml.Node) { c.Unconfined = r.string(n, "unconfined").Value }},
		})
		switch {
		case (len(c.Command) > 0) == (c.URL != ""):
			r.fail(k, "connection %s needs a command or a url, and only one", name)
		case c.URL != "" && (len(c.Env) > 0 || c.Unconfined != ""):
			r.fail(k, "connection %s: env and unconfined are for a command", name)
		case c.URL == "" && c.Bearer != "":
			r.fail(k, "connection %s: bearer is for a url", name).WithHint("give a command its secret with env")
		}
		out[name] = c
	})
	return out
}

func (r *reader) steps(n *yaml.Node) []Step {
	var out []Step
	first := map[string]Pos{}
	r.list(n, "steps", func(n *yaml.Node) {
		s := r.step(n)
		if prior, taken := first[s.ID]; taken && s.ID != "" {
			r.fail(n, "the step %q is there twice, first in line %d", s.ID, prior.Line)
		}
		first[s.ID] = s.Pos
		out = append(out, s)
	})
	if n.Kind == yaml.SequenceNode && len(out) == 0 {
		r.fail(n, "steps is empty").WithHint("leave steps out for one step per skill")
	}
	return out
}

func (r *reader) step(n *yaml.Node) Step {
	s := Step{Pos: place(n), With: empty(n)}
	before := r.count
	r.object(n, "a step", []field{
		{"id", true, func(n *yaml.Node) {
			s.ID = r.matching(n, "id", nameRule, nameWords).Value
			if s.ID == ReservedID {
				r.fail(n, "the id %q belongs to setup", s.ID).WithHint("give the step another id")
			}
		}},
		{"skill", false, func(n *yaml.Node) { s.Skill = r.string(n, "skill") }},
		{"action", false, func(n *yaml.Node) { s.Action = r.action(n) }},
		{"needs", false, func(n *yaml.Node) {
			r.list(n, "needs", func(n *yaml.Node) { s.Needs = append(s.Needs, r.matching(n, "a need", nameRule, nameWords)) })
		}},
		{"with", false, func(n *yaml.Node) { s.With = r.mapping(n, "with") }},
		{"tools", false, func(n *yaml.Node) { s.Tools = r.grants(n) }},
		{"egress", false, func(n *yaml.Node) { s.Egress = r.hosts(n) }},
		{"timeout", false, func(n *yaml.Node) { s.Timeout = r.timeout(n) }},
		{"approve", false, func(n *yaml.Node) { s.Approve = r.word(n, "approve", "ask", "granted") }},
		{"sandbox", false, func(n *yaml.Node) { s.Sandbox = r.override(n) }},
	})
	if r.count > before {
		return s
	}
	action := s.Action.Value != ""
	switch {
	case action == (s.Skill.Value != ""):
		r.fail(n, "step %s needs a skill or an action, and only one", s.ID)
	case action && (s.Tools != nil || s.Egress != nil || s.Sandbox != nil):
		r.fail(n, "step %s calls an action: tools, egress and sandbox are for a skill", s.ID)
	case !action && len(s.Tools) == 0 && s.Approve != "":
		r.fail(n, "step %s calls no action: there is nothing to approve", s.ID)
	}
	return s
}

func (r *reader) action(n *yaml.Node) Text {
	t := r.string(n, "action")
	if t.Value == "" || actionRule.MatchString(t.Value) {
		return t
	}
	e := r.fail(n, "action %q is not valid: it is connection.tool, as in drive.upload", t.Value)
	if !strings.Contains(t.Value, ".") {
		r.bare[e] = t.Value
	}
	return t
}

// named tells of a bare name which connections it could be meant for. joy never chooses one: which it would be would
// depend on what else is declared that day.
func (r *reader) named(s *Spec) {
	for e, tool := range r.bare {
		var could []string
		for _, name := range slices.Sorted(maps.Keys(s.Connections)) {
			could = append(could, name+"."+tool)
		}
		if len(could) > 0 {
			e.Hint = "say whose it is: " + strings.Join(could, " or ")
		}
	}
}

func (r *reader) grants(n *yaml.Node) []Grant {
	out := []Grant{}
	first := map[string]bool{}
	r.list(n, "tools", func(n *yaml.Node) {
		g := Grant{With: empty(n)}
		r.object(n, "a grant", []field{
			{"action", true, func(n *yaml.Node) {
				g.Action = r.action(n)
				if first[g.Action.Value] {
					r.fail(n, "%s is granted twice", g.Action.Value)
				}
				first[g.Action.Value] = true
			}},
			{"with", false, func(n *yaml.Node) { g.With = r.mapping(n, "with") }},
			{"max_calls", false, func(n *yaml.Node) { g.MaxCalls = r.integer(n, "max_calls", maxCalls) }},
		})
		out = append(out, g)
	})
	return out
}

func (r *reader) override(n *yaml.Node) *Override {
	o := &Override{Pos: place(n)}
	r.object(n, "sandbox", []field{
		{"required", true, func(n *yaml.Node) { o.Required = r.boolean(n, "required") }},
		{"reason", true, func(n *yaml.Node) { o.Reason = r.string(n, "reason").Value }},
	})
	return o
}

// empty is the value of a `with` that is not there.
func empty(n *yaml.Node) Value { return Value{Pos: place(n), JSON: json.RawMessage("{}")} }
