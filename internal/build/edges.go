package build

import (
	"errors"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/plan"
)

// edges fills in what each step needs, from `needs` and from references, and holds that the graph is one that ends.
func (b *builder) edges() {
	ids := make([]string, 0, len(b.spec.Steps))
	for _, s := range b.spec.Steps {
		ids = append(ids, s.ID)
	}
	for _, s := range b.spec.Steps {
		i := slices.IndexFunc(b.plan.Steps, func(p plan.Step) bool { return p.ID == s.ID })
		if i < 0 {
			continue
		}
		needs := map[string]bool{}
		need := func(at agent.Pos, id, how string) {
			switch {
			case id == s.ID:
				b.fail(at, "step %s %s itself", s.ID, how)
			case id == agent.ReservedID:
				b.fail(at, "step %s %s setup, which has no output and comes before every step", s.ID, how)
			case !slices.Contains(ids, id):
				b.fail(at, "step %s %s %q, which is no step", s.ID, how, id).Hint = agent.DidYouMean(id, ids)
			default:
				needs[id] = true
			}
		}
		for _, n := range s.Needs {
			need(n.Pos, n.Value, "needs")
		}
		for _, t := range s.With.Strings {
			b.references(t, need)
		}
		b.implicit(s, need)
		for id := range needs {
			b.plan.Steps[i].Needs = append(b.plan.Steps[i].Needs, id)
		}
		slices.Sort(b.plan.Steps[i].Needs)
	}
	b.acyclic()
}

func (b *builder) references(t agent.Text, need func(at agent.Pos, id, how string)) {
	refs, err := plan.Refs(t.Value)
	var broken *plan.RefError
	if errors.As(err, &broken) {
		b.fail(t.At(broken.Offset), "%s", broken.Msg).WithHint("write $${{ for a literal ${{")
		return
	}
	for _, r := range refs {
		if r.Root == plan.RootInputs {
			b.input(t.At(r.Offset), r)
		} else {
			need(t.At(r.Offset), r.Step, "refers to")
		}
	}
}

// implicit reads references of steps that have no text in joy.yaml.
func (b *builder) implicit(s agent.Step, need func(at agent.Pos, id, how string)) {
	if len(s.With.Strings) > 0 {
		return
	}
	refs, err := plan.StepRefs(s.With.JSON)
	if err != nil {
		b.fail(s.Pos, "step %s: an input has a name that no reference can spell: %v", s.ID, err)
	}
	for _, r := range refs {
		if r.Step != "" {
			need(s.Pos, r.Step, "refers to")
		}
	}
}

// input holds that a reference names a declared input.
func (b *builder) input(at agent.Pos, r plan.Ref) {
	known := properties(b.plan.Inputs)
	switch {
	case b.spec.Inputs == nil:
		b.fail(at, "%s: no inputs are declared", r).WithHint("inputs: {type: object, properties: {…}}")
	case len(r.Path) == 0 || len(known) == 0:
	case r.Path[0].List:
		b.fail(at, "%s: the inputs are an object, not a list", r)
	case !slices.Contains(known, r.Path[0].Key):
		b.fail(at, "%s: there is no input %q", r, r.Path[0].Key).Hint = agent.DidYouMean(r.Path[0].Key, known)
	}
}

func (b *builder) acyclic() {
	cycle := plan.Cycle(b.plan)
	if cycle == nil {
		return
	}
	i := slices.IndexFunc(b.spec.Steps, func(s agent.Step) bool { return s.ID == cycle[0] })
	b.fail(b.spec.Steps[i].Pos, "steps need each other: %s", strings.Join(cycle, " → ")).
		WithHint("a step can refer only to steps that are done before it")
}
