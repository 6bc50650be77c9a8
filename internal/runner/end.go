package runner

import (
	"errors"
	"slices"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// skipRest records the steps that never started, and why.
func (r *run) skipRest() {
	for _, s := range r.steps {
		if r.results[s.ID] != nil {
			continue
		}
		why := r.whySkipped(s)
		r.results[s.ID] = &result{step: s, StepOutcome: StepOutcome{ID: s.ID, Status: Skipped, Why: why, ExitCode: -1}}
		r.record(r.Ledger.Append(ledger.StepSkipped, s.ID, ledger.Data{"reason": why}))
	}
}

func (r *run) whySkipped(s plan.Step) string {
	if res := r.results[setup]; s.NeedsVM() && res != nil && res.Status == Failed {
		return "it needs setup, which failed"
	}
	needed := plan.Ancestors(r.Plan, s.ID)
	for _, up := range r.Plan.Steps {
		if res := r.results[up.ID]; needed[up.ID] && res != nil && res.Status == Failed {
			return "it needs " + up.ID + ", which failed"
		}
	}
	switch {
	case r.failure != nil && r.failure.Step != "":
		return "after the failure of " + r.failure.Step
	case s.Kind == setup && r.done():
		return "no step needs the VM"
	}
	return "the run was ended first"
}

// done says whether every step of the plan has succeeded.
func (r *run) done() bool {
	return !slices.ContainsFunc(r.Plan.Steps, func(s plan.Step) bool {
		res := r.results[s.ID]
		return res == nil || res.Status != Succeeded
	})
}

// unfinished makes a time limit or an interrupt between two steps a failure of the run itself.
func (r *run) unfinished(cause error) {
	var halted *halt
	switch {
	case r.failure != nil:
	case errors.As(cause, &halted): // even with every step done: what they left holds what nobody may have
		r.failure = ofFault(halted.err)
	case r.done():
	case errors.Is(cause, errLimit):
		r.failure = r.limitFailure()
	case interrupted(cause):
		r.failure = &Failure{Kind: fault.Agent, Err: ErrInterrupted}
	}
}

// finish writes run.finished. alive is the id of a VM that could not be destroyed.
func (r *run) finish(interrupted bool, alive string) Outcome {
	out := Outcome{Status: Succeeded, Failure: r.failure, VM: alive, Duration: r.Now().Sub(r.begun)}
	counts := map[string]int{}
	for _, s := range r.steps {
		res := r.results[s.ID]
		counts[res.Status]++
		out.Steps = append(out.Steps, res.StepOutcome)
	}
	d := ledger.Data{"ms": out.Duration.Milliseconds(), "steps": ledger.Data{
		Succeeded: counts[Succeeded], Failed: counts[Failed], Skipped: counts[Skipped],
	}}
	if f := r.failure; f != nil {
		f.Err = r.scrubbed(f.Err)
		out.Status = Failed
		if interrupted {
			out.Status = Interrupted
		}
		d["failure_kind"], d["error"] = string(f.Kind), r.scribe.Text(f.Err.Error())
		if f.Step != "" {
			d["step"] = f.Step
		}
		if f.Timeout {
			d["timeout"] = true
		}
		if f.Consent {
			d["consent"] = true
		}
	}
	d["outcome"] = out.Status
	if r.broken == nil {
		r.record(r.Ledger.Effect(ledger.RunFinished, "", d))
	}
	if out.RecordErr = r.broken; r.broken != nil && out.Status == Succeeded {
		out.Status = Failed
	}
	return out
}
