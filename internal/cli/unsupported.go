package cli

import (
	"errors"

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
		if s.Kind == plan.Prompt {
			add("declare an entry point (metadata: {joy.entry: …}), or joy simulate", "step %s is worked by a model; this version of joy runs script and action steps only", s.ID)
		}
	}
	return errors.Join(errs...)
}
