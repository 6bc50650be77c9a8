package account

import (
	"cmp"
	"slices"
)

// Difference is one thing in which two runs differ.
type Difference struct {
	Step string `json:"step,omitempty"` // "" when it is of the run
	What string `json:"what"`
	Name string `json:"name,omitempty"` // of an artifact or file, or which one of several
	A    string `json:"a"`
	B    string `json:"b"`
	In   string `json:"in"` // both, or the only one that has it: a, b
}

// Took is how long something took in two runs, in milliseconds; -1 where the ledger does not say.
type Took struct {
	Step string `json:"step,omitempty"` // "" for the run
	A    int64  `json:"a"`
	B    int64  `json:"b"`
}

// Comparison is what two runs of a plan have not in common.
type Comparison struct {
	Differences   []Difference // they decide whether the runs were the same
	Circumstances []Difference // the machine, the programs, who ran it: told, and not counted
	Took          []Took       // of all that both or one of them did
}

// Compare holds b against a. Times, durations, seqs, run ids, tokens, addresses and VM ids are never compared: they
// differ between any two runs. What steps do is compared step by step, since steps that run side by side have no order.
func Compare(a, b *Run) Comparison {
	c := Comparison{
		Differences:   differences(a, b),
		Circumstances: differ(placeKeys, a.place, placeKeys, b.place, nil),
		Took:          []Took{},
	}
	for _, step := range steps(a.order, b.order) {
		t := Took{Step: step, A: -1, B: -1}
		if ms, ok := a.took[step]; ok {
			t.A = ms
		}
		if ms, ok := b.took[step]; ok {
			t.B = ms
		}
		if t.A >= 0 || t.B >= 0 {
			c.Took = append(c.Took, t)
		}
	}
	return c
}

// placeKeys are the keys of circumstances in the order in which they are told.
var placeKeys = func() []key {
	var keys []key
	for _, typ := range []string{"run.started", "sandbox.created"} {
		for _, name := range circumstances[typ] {
			keys = append(keys, key{"", "circumstance", name})
		}
	}
	return keys
}()

// steps are those of both runs, the run itself ("") first.
func steps(orders ...[]key) []string {
	seen := map[string]bool{"": true}
	list := []string{""}
	for _, order := range orders {
		for _, k := range order {
			if !seen[k.step] {
				seen[k.step] = true
				list = append(list, k.step)
			}
		}
	}
	return list
}

// differences are those of facts that are held, and of a kind that is not held whole the one that the rest may hold.
func differences(a, b *Run) []Difference {
	var rest []key
	told := map[key]bool{}
	for _, kinds := range []map[key]*kind{a.kinds, b.kinds} {
		for k := range kinds {
			if n, other := a.kinds[k], b.kinds[k]; !told[k] && !n.same(other) && (!n.whole() || !other.whole()) {
				told[k] = true
				rest = append(rest, k)
			}
		}
	}
	slices.SortFunc(rest, func(a, b key) int { return cmp.Or(cmp.Compare(a.step, b.step), cmp.Compare(a.what, b.what)) })
	list := differ(a.order, a.facts, b.order, b.facts, func(k key) bool {
		n, other := a.kinds[kindOf(k)], b.kinds[kindOf(k)]
		_, inA := a.facts[k]
		_, inB := b.facts[k]
		return n.same(other) || !inA && !n.whole() || !inB && !other.whole()
	})
	for _, k := range rest {
		d := Difference{Step: k.step, What: k.what, Name: "in all", A: a.kinds[k].text(), B: b.kinds[k].text(), In: "both"}
		list = append(list, d)
	}
	return list
}

// differ lists, step by step, what one has and the other has not or has otherwise, without what skip takes.
func differ(orderA []key, a map[key]string, orderB []key, b map[key]string, skip func(key) bool) []Difference {
	ofStep := map[string][]Difference{}
	seen := map[key]bool{}
	for _, order := range [][]key{orderA, orderB} {
		for _, k := range order {
			if seen[k] {
				continue
			}
			seen[k] = true
			if skip != nil && skip(k) {
				continue
			}
			if d, same := one(k, a, b); !same {
				ofStep[k.step] = append(ofStep[k.step], d)
			}
		}
	}
	list := []Difference{}
	for _, step := range steps(orderA, orderB) {
		list = append(list, ofStep[step]...)
	}
	return list
}

func one(k key, a, b map[key]string) (d Difference, same bool) {
	va, inA := a[k]
	vb, inB := b[k]
	d = Difference{Step: k.step, What: k.what, Name: k.name, A: va, B: vb, In: "both"}
	switch {
	case !inB:
		d.In = "a"
	case !inA:
		d.In = "b"
	}
	return d, inA == inB && va == vb
}
