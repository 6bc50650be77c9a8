package runner

import (
	"errors"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// skipRest records the steps that never started, and why.
func (r *run) skipRest() {
	for _, s := range r.Plan.Steps {
		if r.results[s.ID] != nil {
			continue
		}
		why := r.whySkipped(s)
		r.results[s.ID] = &result{step: s, StepOutcome: StepOutcome{ID: s.ID, Status: Skipped, Why: why, ExitCode: -1}}
		r.record(r.Ledger.Append(ledger.StepSkipped, s.ID, ledger.Data{"reason": why}))
	}
}

func (r *run) whySkipped(s plan.Step) string {
	needed := plan.Ancestors(r.Plan, s.ID)
	for _, up := range r.Plan.Steps {
		if res := r.results[up.ID]; needed[up.ID] && res != nil && res.Status == Failed {
			return "it needs " + up.ID + ", which failed"
		}
	}
	if r.failure != nil {
		return "after the failure of " + r.failure.Step
	}
	return "the run was ended first"
}

// unfinished makes a time limit or an interrupt between two steps a failure of the run itself.
func (r *run) unfinished(cause error) {
	skipped := false
	for _, res := range r.results {
		skipped = skipped || res.Status == Skipped
	}
	switch {
	case r.failure != nil || !skipped:
	case errors.Is(cause, errLimit):
		r.failure = r.limitFailure()
	case interrupted(cause):
		r.failure = &Failure{Kind: fault.Agent, Err: errInterrupted}
	}
}

// finish writes run.finished. alive is the id of a VM that could not be destroyed.
func (r *run) finish(interrupted bool, alive string) Outcome {
	out := Outcome{Status: Succeeded, Failure: r.failure, VM: alive, Duration: r.Now().Sub(r.begun)}
	counts := map[string]int{}
	for _, s := range r.Plan.Steps {
		res := r.results[s.ID]
		counts[res.Status]++
		out.Steps = append(out.Steps, res.StepOutcome)
	}
	d := ledger.Data{"ms": out.Duration.Milliseconds(), "steps": ledger.Data{
		Succeeded: counts[Succeeded], Failed: counts[Failed], Skipped: counts[Skipped],
	}}
	if f := r.failure; f != nil {
		out.Status = Failed
		if interrupted {
			out.Status = Interrupted
		}
		d["failure_kind"], d["error"] = string(f.Kind), r.text(f.Err.Error())
		if f.Step != "" {
			d["step"] = f.Step
		}
		if f.Timeout {
			d["timeout"] = true
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
