package build

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// steps makes the plan's steps, without their edges.
func (b *builder) steps() {
	if b.spec.Steps == nil {
		b.spec.Steps = b.implied()
	}
	if n := len(b.spec.Steps); n > plan.MaxSteps {
		b.fail(b.spec.Steps[plan.MaxSteps].Pos, "%d steps are more than the %d a plan can have", n, plan.MaxSteps)
		return
	}
	for _, s := range b.spec.Steps {
		if s.Action.Value != "" {
			b.actionStep(s)
		} else {
			b.skillStep(s)
		}
	}
	for _, s := range b.bundles {
		if !slices.ContainsFunc(b.plan.Steps, func(step plan.Step) bool { return step.Skill == s.pin.Name }) {
			b.notes = append(b.notes, "skill "+s.pin.Name+" is pinned and no step uses it")
		}
	}
}

// implied is one step per skill, in order. Each gets the inputs of the run that its skill knows.
func (b *builder) implied() []agent.Step {
	var out []agent.Step
	first := map[string]string{}
	for _, s := range b.bundles {
		id := slug(s.pin.Name)
		switch prior, taken := first[id]; {
		case id == "" || id == agent.ReservedID:
			b.fail(s.at, "the skill name %q makes no step id", s.pin.Name).
				WithHint("steps: [{id: run, skill: %q}]", s.pin.Name)
			continue
		case taken:
			b.fail(s.at, "the skills %q and %q make the same step id %q", prior, s.pin.Name, id).WithHint("declare steps with ids of their own")
			continue
		}
		first[id] = s.pin.Name
		out = append(out, agent.Step{Pos: s.at, ID: id, Skill: agent.Text{Value: s.pin.Name, Pos: s.at}, With: b.passed(s)})
	}
	return out
}

// passed hands over every declared input that the skill's own schema names, or all when it has none. An input that a
// run leaves out is left out here too; see plan.Resolve.
func (b *builder) passed(s bundle) agent.Value {
	with := map[string]string{}
	own := properties(s.pin.InputSchema)
	for _, name := range properties(b.plan.Inputs) {
		if s.pin.InputSchema == nil || slices.Contains(own, name) {
			with[name] = "${{ " + plan.Ref{Root: plan.RootInputs, Path: []plan.Elem{{Key: name}}}.String() + " }}"
		}
	}
	raw, err := json.Marshal(with)
	if err != nil {
		b.fail(s.at, "pass the inputs to %s: %v", s.pin.Name, err)
		raw = []byte("{}")
	}
	return agent.Value{Pos: s.at, JSON: raw}
}

// properties lists the top-level properties a schema declares, sorted.
func properties(schema json.RawMessage) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil // the check of schemas tells it
	}
	var names []string
	for name := range s.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (b *builder) actionStep(s agent.Step) {
	b.connection(s.Action)
	b.plan.Steps = append(b.plan.Steps, plan.Step{
		ID: s.ID, Kind: plan.Action, Action: s.Action.Value, With: s.With.JSON,
		Timeout: cmp.Or(s.Timeout, b.plan.Policy.Timeout), Approve: s.Approve,
	})
}

func (b *builder) skillStep(s agent.Step) {
	from, ok := b.bundle(s.Skill.Value)
	if !ok {
		var names []string
		for _, s := range b.bundles {
			names = append(names, s.pin.Name)
		}
		b.fail(s.Skill.Pos, "step %s: there is no skill %q", s.ID, s.Skill.Value).Hint = agent.DidYouMean(s.Skill.Value, names)
	}
	out := plan.Step{
		ID: s.ID, Kind: plan.Prompt, Skill: s.Skill.Value, With: s.With.JSON, Approve: s.Approve,
		Timeout: cmp.Or(s.Timeout, b.plan.Policy.Timeout),
		Sandbox: plan.Sandbox{Required: from.required, Evidence: from.evidence},
	}
	if from.entry != nil {
		out.Kind, out.Entry, out.Sandbox.Required = plan.Script, from.entry, true
	}
	if o := s.Sandbox; o != nil {
		if !o.Required && out.Kind == plan.Script {
			b.fail(o.Pos, "step %s runs a script: it cannot do without a sandbox", s.ID).
				WithHint("remove the sandbox override; joy never runs a skill's code on the host")
		}
		out.Sandbox.Override = &plan.Override{Required: o.Required, Reason: o.Reason}
	}
	if out.NeedsVM() {
		out.Egress = slices.Clone(b.plan.Policy.Egress)
		if s.Egress != nil {
			out.Egress = slices.Clone(s.Egress)
		}
		slices.Sort(out.Egress)
	}
	for _, g := range s.Tools {
		b.connection(g.Action)
		if refs, err := plan.StepRefs(g.With.JSON); err != nil || len(refs) > 0 {
			b.fail(g.With.Pos, "step %s: the grant of %s fixes constants, not references", s.ID, g.Action.Value)
		}
		out.Tools = append(out.Tools, plan.Grant{Action: g.Action.Value, With: g.With.JSON, MaxCalls: g.MaxCalls})
	}
	b.plan.Steps = append(b.plan.Steps, out)
}

const maxSetup = 1 << 20

// setup pins the script that prepares the layer below every sandbox step. Its mode is always executable: it is there
// to be run, and not every file system can say so.
func (b *builder) setup() {
	s := b.spec.Setup
	if s == nil {
		return
	}
	data, err := b.readFile(s.Run.Value, maxSetup)
	if err != nil || b.linked(s.Run.Value) {
		b.fail(s.Run.Pos, "setup: %s is not there, or no regular file of the project below %d bytes", s.Run.Value, maxSetup)
		return
	}
	egress := b.plan.Policy.Egress
	if s.Egress != nil {
		egress = s.Egress
	}
	egress = slices.Clone(egress)
	slices.Sort(egress)
	pinned := digest.Pin(s.Run.Value, digest.ModeExec, data, false)
	argv, err := skill.Interpreter(s.Run.Value, pinned.Data)
	if err != nil {
		b.fail(s.Run.Pos, "setup: %s: %v", s.Run.Value, err).WithHint("%s", skill.InterpreterHint)
		return
	}
	b.secretsIn(s.Run.Value, data)
	b.plan.Setup = &plan.Setup{Run: plan.File(pinned.File), Argv: argv, Egress: egress, Timeout: s.Timeout}
}
