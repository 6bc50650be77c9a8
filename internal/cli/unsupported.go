package cli

import (
	"errors"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// refuseUnsupported names every part of a plan that this version freezes and simulates but cannot execute. It comes
// before anything else of a run: a plan is run as a whole or not at all.
func refuseUnsupported(p *plan.Plan) error {
	var errs []error
	add := func(hint, format string, args ...any) {
		e := fault.New(fault.Input, format, args...).WithHint("%s", hint)
		e.Code = "JOY-UNSUPPORTED"
		errs = append(errs, e)
	}
	for _, s := range p.Steps {
		switch s.Kind {
		case plan.Prompt:
			add("declare an entry point (metadata: {joy.entry: …}), or joy simulate", "step %s is worked by a model; this version of joy runs script steps only", s.ID)
		case plan.Action:
			add("joy simulate", "step %s calls %s; this version of joy calls no connections", s.ID, s.Action)
		}
	}
	return errors.Join(errs...)
}

// warnInert says what the plan grants and nobody will get.
func (a *app) warnInert(p *plan.Plan) {
	if len(p.Policy.Egress) > 0 { // what setup may reach is a part of it
		a.warn("the plan grants network access to %s; this version of joy has no way out of the VM, so nothing is reached",
			strings.Join(p.Policy.Egress, ", "))
	}
}
