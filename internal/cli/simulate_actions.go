package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// simulatedAction is one action that a step may call.
type simulatedAction struct {
	Action   string          `json:"action"`
	Fixed    json.RawMessage `json:"fixed"`     // by the grant
	MaxCalls int             `json:"max_calls"` // 0: the door's own limit
	Approval string          `json:"approval"`  // granted, or needed: a person would be asked
}

// actionsOf are the actions that a step may call: its own, or those it is granted.
func actionsOf(p *plan.Plan, s plan.Step) []simulatedAction {
	grants := s.Tools
	if s.Action != "" {
		grants = []plan.Grant{{Action: s.Action, MaxCalls: 1}}
	}
	out := []simulatedAction{}
	for _, g := range grants {
		act := simulatedAction{Action: g.Action, Fixed: g.With, MaxCalls: g.MaxCalls, Approval: "granted"}
		if len(act.Fixed) == 0 {
			act.Fixed = json.RawMessage("{}")
		}
		if p.Asks(s, g.Action) {
			act.Approval = "needed"
		}
		out = append(out, act)
	}
	return out
}

// String is the action on one line, with what bounds it.
func (s simulatedAction) String() string {
	var bounds []string
	if string(s.Fixed) != "{}" {
		bounds = append(bounds, "with "+string(s.Fixed))
	}
	if s.MaxCalls > 0 {
		bounds = append(bounds, "at most "+count(s.MaxCalls, "call"))
	}
	if s.Approval == "needed" {
		bounds = append(bounds, "asks for approval")
	}
	if len(bounds) == 0 {
		return s.Action
	}
	return s.Action + " (" + strings.Join(bounds, ", ") + ")"
}

// scrub replaces secrets in all that a simulation shows of inputs and constants.
func (s *simulation) scrub(secrets *secret.Set) {
	value := func(v *json.RawMessage) {
		clean, hits := secrets.Redact(*v)
		if len(hits) > 0 && !json.Valid(clean) { // a number was one
			clean = []byte(`"[REDACTED:` + hits[0].Name + `]"`)
		}
		*v = clean
	}
	text := func(v string) string {
		clean, _ := secrets.Redact([]byte(v))
		return string(clean)
	}
	value(&s.Input)
	steps := s.Steps
	if s.Setup != nil {
		steps = append(slices.Clone(steps), *s.Setup)
	}
	for i := range steps {
		if i < len(s.Steps) {
			value(&s.Steps[i].Input)
		}
		for name, v := range steps[i].Env {
			steps[i].Env[name] = text(v)
		}
		for j := range steps[i].Actions {
			value(&steps[i].Actions[j].Fixed)
		}
		for j, arg := range steps[i].Command {
			steps[i].Command[j] = text(arg)
		}
		for j, file := range steps[i].Files {
			steps[i].Files[j] = text(file)
		}
	}
}

// readable is v as JSON that spells < and > as they are: they mark what is not known.
func readable(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
