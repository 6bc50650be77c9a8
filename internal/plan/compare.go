package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Change is one difference between two plans, in words. Before is empty for what was added, After for what was removed.
type Change struct {
	What   string `json:"what"` // such as "policy.memory" or "skill count: scripts/count.py"
	Before string `json:"before"`
	After  string `json:"after"`
}

func (c Change) String() string {
	switch {
	case c.Before == "":
		return fmt.Sprintf("+ %s: %s", c.What, c.After)
	case c.After == "":
		return fmt.Sprintf("- %s: %s", c.What, c.Before)
	}
	return fmt.Sprintf("~ %s: %s → %s", c.What, c.Before, c.After)
}

// Compare lists what differs from old to new, in the order of the lock. plan_digest and lock_version are left out: they
// follow from the rest. It is empty exactly when nothing else differs.
func Compare(old, new *Plan) []Change {
	old, new = alike(old), alike(new)
	c := &comparison{}
	c.value("rules", old.Rules, new.Rules)
	c.fields("agent", old.Agent, new.Agent)
	c.value("inputs", old.Inputs, new.Inputs)
	section(c, "model", old.Model, new.Model)
	c.value("triggers", old.Triggers, new.Triggers)
	c.fields("policy", old.Policy, new.Policy)
	section(c, "setup", old.Setup, new.Setup)
	c.skills(old.Skills, new.Skills)
	named(c, "connection", connections(old), connections(new), func(what string, a, b Connection) { c.fields(what, a, b) })
	c.fields("image", old.Image, new.Image)
	c.value("allow", old.Allow, new.Allow)
	c.steps(old.Steps, new.Steps)
	return c.out
}

// alike is p with one spelling for equal values; a plan that has none is compared as it is.
func alike(p *Plan) *Plan {
	if n, err := normal(p); err == nil {
		return &n
	}
	return p
}

type comparison struct{ out []Change }

func (c *comparison) add(what, before, after string) {
	if before != after {
		c.out = append(c.out, Change{what, before, after})
	}
}

// value compares by what the lock would hold, so that nil and empty are the same.
func (c *comparison) value(what string, before, after any) { c.add(what, words(before), words(after)) }

// fields compares two structs key by key, by the names the lock uses.
func (c *comparison) fields(what string, before, after any) {
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		key, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("json"), ",")
		c.value(what+"."+key, a.Field(i).Interface(), b.Field(i).Interface())
	}
}

// section compares key by key what both have.
func section[T any](c *comparison, what string, before, after *T) {
	if before != nil && after != nil {
		c.fields(what, *before, *after)
		return
	}
	c.value(what, before, after)
}

func (c *comparison) skills(old, new []Skill) {
	name := func(s Skill) string { return s.Name }
	named(c, "skill", keyed(old, name), keyed(new, name), func(what string, a, b Skill) {
		path := func(f File) string { return f.Path }
		named(c, what+": file", keyed(a.Files, path), keyed(b.Files, path), nil)
		a.Files, b.Files = nil, nil
		if len(c.out) > 0 && strings.HasPrefix(c.out[len(c.out)-1].What, what+": file") {
			a.Digest, b.Digest = "", "" // the files say it already
		}
		c.fields(what, a, b)
	})
	order(c, "skills", old, new, name)
}

func (c *comparison) steps(old, new []Step) {
	id := func(s Step) string { return s.ID }
	named(c, "step", keyed(old, id), keyed(new, id), func(what string, a, b Step) { c.fields(what, a, b) })
	order(c, "steps", old, new, id)
}

// order tells a changed order of what is in both alike.
func order[T any](c *comparison, what string, old, new []T, name func(T) string) {
	list := func(in []T) (names, sorted []string) {
		for _, v := range in {
			names = append(names, name(v))
		}
		return names, slices.Sorted(slices.Values(names))
	}
	before, a := list(old)
	after, b := list(new)
	if slices.Equal(a, b) {
		c.add("order of "+what, strings.Join(before, ", "), strings.Join(after, ", "))
	}
}

// pair keeps the order in which names were met.
type pair[T any] struct {
	name  string
	value T
}

func keyed[T any](in []T, name func(T) string) []pair[T] {
	out := make([]pair[T], len(in))
	for i, v := range in {
		out[i] = pair[T]{name(v), v}
	}
	return out
}

func connections(p *Plan) []pair[Connection] {
	var out []pair[Connection]
	for _, name := range sortedKeys(p.Connections) {
		out = append(out, pair[Connection]{name, p.Connections[name]})
	}
	return out
}

// named compares two collections by name; both tells the differences of what is in both, or nil for the whole at once.
func named[T any](c *comparison, what string, old, new []pair[T], both func(what string, a, b T)) {
	before := map[string]T{}
	for _, p := range old {
		before[p.name] = p.value
	}
	after := map[string]bool{}
	for _, p := range new {
		after[p.name] = true
		prior, ok := before[p.name]
		switch {
		case !ok:
			c.add(what+" "+p.name, "", brief(p.value))
		case both != nil:
			both(what+" "+p.name, prior, p.value)
		default:
			c.value(what+" "+p.name, prior, p.value)
		}
	}
	for _, p := range old {
		if !after[p.name] {
			c.add(what+" "+p.name, brief(p.value), "")
		}
	}
}
