package plan

import (
	"maps"
	"slices"
	"strings"
)

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

func entries[T any](in map[string]T) []pair[T] {
	var out []pair[T]
	for _, name := range slices.Sorted(maps.Keys(in)) {
		out = append(out, pair[T]{name, in[name]})
	}
	return out
}

// groups are the collections each of whose things is a group of changes.
var groups = map[string]bool{"skill": true, "connection": true, "step": true}

// named compares two collections by name; both tells the differences of what is in both, or nil for the whole at once.
// Of what is in new only, added tells more than its name; nil tells no more.
func named[T any](c *comparison, what, kind string, old, new []pair[T], both func(what string, a, b T), added func(what string, b T)) {
	before := map[string]T{}
	for _, p := range old {
		before[p.name] = p.value
	}
	after := map[string]bool{}
	for _, p := range new {
		after[p.name] = true
		name := what + " " + p.name
		if groups[kind] {
			c.in(name)
		}
		prior, ok := before[p.name]
		switch {
		case !ok:
			n := len(c.out)
			c.add(name, "", brief(p.value), appears(kind, nil, p.value))
			c.placed(n, c.dir, p.value)
			if added != nil {
				added(name, p.value)
			}
		case both != nil:
			both(name, prior, p.value)
		default:
			c.value(name, kind, prior, p.value)
		}
	}
	for _, p := range old {
		if after[p.name] {
			continue
		}
		if groups[kind] {
			c.in(what + " " + p.name)
		}
		n := len(c.out)
		c.add(what+" "+p.name, brief(p.value), "", "")
		c.placed(n, c.dir, p.value)
	}
}

// listed compares two lists as sets: an element is there or not. split is its name, which may be empty, and its value.
// Where that shows no difference and the lists differ, they do so in their order, and the change is the whole list.
func listed[T any](c *comparison, what, kind string, old, new []T, split func(T) (name, value string)) {
	before := len(c.out)
	missing := func(from, in []T, tell func(what, value string, v T)) {
		for _, v := range from {
			if slices.ContainsFunc(in, func(o T) bool { return words(o) == words(v) }) {
				continue
			}
			name, value := split(v)
			tell(strings.TrimSpace(what+" "+name), value, v)
		}
	}
	missing(new, old, func(what, value string, v T) { c.add(what, "", value, appears(kind, old, v)) })
	missing(old, new, func(what, value string, _ T) { c.add(what, value, "", "") })
	if len(c.out) == before {
		c.value("order of "+what, "", old, new)
	}
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
		c.in("order").add("order of "+what, strings.Join(before, ", "), strings.Join(after, ", "), "")
	}
}
