package plan

import "slices"

// Waves puts the ids of the steps into groups: a step is in the first group after all it needs. Within a group the
// order is the plan's. It shows how far steps may run side by side; a run does not wait for a whole group. Steps of a
// cycle, and what needs them, are left out: Cycle names them.
func Waves(p *Plan) [][]string {
	var out [][]string
	done := map[string]bool{}
	for {
		var wave []string
		for _, s := range p.Steps {
			ready := func(id string) bool { return done[id] }
			if !done[s.ID] && !slices.ContainsFunc(s.Needs, func(id string) bool { return !ready(id) }) {
				wave = append(wave, s.ID)
			}
		}
		if len(wave) == 0 {
			return out
		}
		for _, id := range wave {
			done[id] = true
		}
		out = append(out, wave)
	}
}

// Order lists the ids of the steps so that each comes after what it needs; ties keep the plan's order.
func Order(p *Plan) []string { return slices.Concat(Waves(p)...) }

// Cycle is a path of needs that ends where it began, such as [a b a]: a needs b, b needs a. It is nil when there is
// none. A need of no step is passed over.
func Cycle(p *Plan) []string {
	const (
		fresh = iota
		open
		closed
	)
	state := map[string]int{}
	needs := map[string][]string{}
	for _, s := range p.Steps {
		needs[s.ID] = s.Needs
	}
	var path []string
	var visit func(id string) []string
	visit = func(id string) []string {
		path = append(path, id)
		state[id] = open
		for _, n := range needs[id] {
			if _, ok := needs[n]; !ok || state[n] == closed {
				continue
			}
			if state[n] == open {
				return append(slices.Clone(path[slices.Index(path, n):]), n)
			}
			if found := visit(n); found != nil {
				return found
			}
		}
		state[id] = closed
		path = path[:len(path)-1]
		return nil
	}
	for _, s := range p.Steps {
		if state[s.ID] == fresh {
			if found := visit(s.ID); found != nil {
				return found
			}
		}
	}
	return nil
}

// Ancestors is every step that must be done before the step id, nearest not first: a set.
func Ancestors(p *Plan, id string) map[string]bool {
	out := map[string]bool{}
	var add func(id string)
	add = func(id string) {
		s, _ := p.Step(id)
		for _, n := range s.Needs {
			if !out[n] {
				out[n] = true
				add(n)
			}
		}
	}
	add(id)
	return out
}

// Alone says whether no other step that needs a VM can run beside the step id: each of them is before it or after it.
func Alone(p *Plan, id string) bool {
	before := Ancestors(p, id)
	for _, s := range p.Steps {
		if s.ID != id && s.NeedsVM() && !before[s.ID] && !Ancestors(p, s.ID)[id] {
			return false
		}
	}
	return true
}
