package skill

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// weighed is what the rules say about one tool or host.
type weighed struct {
	Need
	points, optional int
	evidence         []Evidence
}

// weigh adds up what the rules found, by name. The order is that of the names.
func (j *judge) weigh(all []found) []*weighed {
	byName := map[string]*weighed{}
	for _, f := range all {
		counted := map[weighing]int{}
		for _, h := range f.hits {
			w := byName[h.need.Name]
			if w == nil {
				w = &weighed{Need: h.need}
				byName[h.need.Name] = w
			}
			key := weighing{h.need.Name, h.optional}
			counted[key]++
			if n := counted[key] - max(f.least-1, 0); n < 1 || n > max(f.most, 1) {
				continue
			}
			if w.evidence = append(w.evidence, j.witness(f.rule, h)); h.optional {
				w.optional += f.points
			} else {
				w.points += f.points
			}
		}
		if f.shared {
			share(byName, counted)
		}
	}
	joinServers(byName)
	j.joinUnnamed(byName)
	joinLonger(byName)
	if every := byName[everyName]; every != nil {
		delete(byName, everyName)
		for _, w := range byName {
			w.points += every.points
			w.evidence = append(w.evidence, every.evidence...)
		}
	}
	out := make([]*weighed, 0, len(byName))
	for _, w := range byName {
		out = append(out, w)
	}
	slices.SortFunc(out, func(a, b *weighed) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// weighing is what the matches of one rule are counted by.
type weighing struct {
	name     string
	optional bool
}

// share counts one more for every name when there are several that can not be done without.
func share(byName map[string]*weighed, counted map[weighing]int) {
	var names []string
	for key := range counted {
		if !key.optional {
			names = append(names, key.name)
		}
	}
	if len(names) < 2 {
		return
	}
	for _, name := range names {
		byName[name].points++
	}
}

// joinServers adds what is said of MCP servers without a name to those that have one.
func joinServers(byName map[string]*weighed) {
	nameless := byName[""]
	if nameless == nil || nameless.Kind != KindMCP {
		return
	}
	named := false
	for name, w := range byName {
		if name != "" && (w.Kind == KindMCP || w.Kind == KindLocal) {
			w.points, w.optional, named = w.points+nameless.points, w.optional+nameless.optional, true
			w.evidence = append(slices.Clone(nameless.evidence), w.evidence...)
		}
	}
	if named {
		delete(byName, "")
	}
}

// joinUnnamed adds what is said of the skill's own service to the service, of those in its name or description, that
// most speaks for; without one it stays without a name.
func (j *judge) joinUnnamed(byName map[string]*weighed) {
	own := byName[unnamed]
	if own == nil {
		return
	}
	delete(byName, unnamed)
	var best *weighed
	for name, w := range byName {
		if name != "" && name != everyName && w.Kind != KindLocal && j.isFor(name) && (best == nil || w.points > best.points || w.points == best.points && w.Name < best.Name) {
			best = w
		}
	}
	if best == nil && byName[""] == nil {
		own.Name = ""
		byName[""] = own
	}
	if best == nil {
		return
	}
	best.points, best.optional = best.points+own.points, best.optional+own.optional
	best.evidence = append(best.evidence, own.evidence...)
}

// isFor reports a service that the bundle's name or description names.
func (j *judge) isFor(name string) bool {
	name = strings.ReplaceAll(name, "_", " ")
	return strings.Contains(strings.ToLower(j.b.Description), name) || strings.Contains(strings.ReplaceAll(strings.ToLower(j.b.Name), "-", " "), name)
}

// joinLonger adds what is said under a name that begins with the words of another to that one: "tea room" to "tea".
func joinLonger(byName map[string]*weighed) {
	names := slices.Sorted(maps.Keys(byName))
	for _, name := range slices.Backward(names) {
		at := slices.IndexFunc(names, func(shorter string) bool {
			s := byName[shorter]
			return s != nil && s.Kind == KindService && shorter != "" && strings.HasPrefix(strings.ReplaceAll(name, "_", " "), shorter+" ")
		})
		if at < 0 {
			continue
		}
		s, w := byName[names[at]], byName[name]
		s.points, s.optional = s.points+w.points, s.optional+w.optional
		s.evidence = append(s.evidence, w.evidence...)
		delete(byName, name)
	}
}
