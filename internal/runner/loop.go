package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// errLimit is the cause of a context that the plan's own time limit ended.
var errLimit = errors.New("the run's time limit")

// run is the state of one run. Only the goroutine of execute changes it; a step gets the results of its predecessors,
// which have ended, and sends its own.
type run struct {
	Config
	begun   time.Time
	vm      *machine
	results map[string]*result // of ended steps
	running int
	ended   chan *result
	failure *Failure // the first
	broken  error    // the ledger failed: nothing new starts, nothing is finished
}

// result is how a step ended.
type result struct {
	step plan.Step
	StepOutcome
}

func (r *run) execute(ctx context.Context) Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(r.Plan.Policy.Timeout), errLimit)
	defer cancel()
	r.record(r.Ledger.Effect(ledger.RunStarted, "", r.startData()))
	r.dispatch(ctx)
	for r.running > 0 {
		res := <-r.ended
		r.running--
		r.settle(res)
		r.dispatch(ctx)
	}
	r.skipRest()
	r.interruption(ctx)
	alive := r.vm.destroy()
	if r.Broker != nil {
		r.fail(r.Broker.Close())
	}
	return r.finish(ctx, alive)
}

// startData is what run.started says.
func (r *run) startData() ledger.Data {
	d := ledger.Data{
		"plan": r.Plan.Digest, "agent": r.Plan.Agent.Name, "workspace": r.Plan.Agent.Workspace,
		"input": ledger.Data{"sha256": digest.Bytes(r.Input), "bytes": len(r.Input)}, "provider": r.Provider.Name(),
	}
	files := ledger.Data{}
	for name, f := range r.Files {
		files[name] = ledger.Data{"name": f.Name, "sha256": "sha256:" + f.SHA256, "bytes": f.Size}
	}
	if len(files) > 0 {
		d["files"] = files
	}
	for k, v := range r.Started {
		d[k] = v
	}
	return d
}

// dispatch starts every step whose predecessors have succeeded, in the plan's order. After a failure or an
// interruption nothing new starts.
func (r *run) dispatch(ctx context.Context) {
	for _, s := range r.Plan.Steps {
		if r.broken != nil || r.failure != nil || ctx.Err() != nil || r.running >= maxParallel {
			return
		}
		if _, ended := r.results[s.ID]; ended || !r.ready(s) {
			continue
		}
		r.results[s.ID] = nil // running
		if r.record(r.Ledger.Append(ledger.StepStarted, s.ID, r.stepData(s))); r.broken != nil {
			return
		}
		r.running++
		go r.perform(ctx, s, r.upstream(s))
	}
}

func (r *run) ready(s plan.Step) bool {
	return !slices.ContainsFunc(s.Needs, func(id string) bool {
		res := r.results[id]
		return res == nil || res.Status != Succeeded
	})
}

func (r *run) stepData(s plan.Step) ledger.Data {
	d := ledger.Data{"kind": s.Kind, "vm": s.NeedsVM()}
	if s.Skill != "" {
		skill, _ := r.Plan.Skill(s.Skill)
		d["skill"], d["bundle"] = s.Skill, skill.Digest
	}
	if s.Action != "" {
		d["action"] = s.Action
	}
	return d
}

// upstream are the results a step may see: of its direct predecessors, and of the ancestors it names in references.
func (r *run) upstream(s plan.Step) map[string]*result {
	seen := map[string]*result{}
	for _, id := range s.Needs {
		seen[id] = r.results[id]
	}
	return seen
}

// perform runs one step and sends how it ended, whatever happens in it.
func (r *run) perform(runCtx context.Context, s plan.Step, up map[string]*result) {
	res := &result{step: s, StepOutcome: StepOutcome{ID: s.ID}}
	defer func() {
		if p := recover(); p != nil {
			res.Failure = &Failure{Kind: fault.Platform, Err: fmt.Errorf("joy itself failed: %v\n%s", p, debug.Stack())}
		}
		r.ended <- res
	}()
	begun := r.Now()
	ctx, cancel := context.WithTimeout(runCtx, time.Duration(s.Timeout))
	defer cancel()
	res.Failure = r.step(ctx, runCtx, s, up, res)
	res.Duration = r.Now().Sub(begun)
}

// settle takes the end of a step into the state and onto the record.
func (r *run) settle(res *result) {
	r.results[res.ID] = res
	res.Status = Succeeded
	d := ledger.Data{"status": Succeeded, "ms": res.Duration.Milliseconds()}
	if f := res.Failure; f != nil {
		f.Step, res.Status = res.ID, Failed
		d["status"], d["failure_kind"], d["error"] = Failed, string(f.Kind), r.text(f.Err.Error())
		if f.Timeout {
			d["timeout"] = true
		}
		if r.failure == nil {
			r.failure = f
		}
	}
	if res.Output != nil {
		size, sum, err := r.keepJSON(res.Output)
		r.fail(err)
		d["output"] = ledger.Data{"sha256": sum, "bytes": size}
	}
	r.record(r.Ledger.Append(ledger.StepFinished, res.ID, d))
}

// skipRest records the steps that never started, and why.
func (r *run) skipRest() {
	for _, s := range r.Plan.Steps {
		if r.results[s.ID] != nil {
			continue
		}
		why := "the run was ended first"
		if r.failure != nil {
			why = "after the failure of " + r.failure.Step
		}
		for _, id := range s.Needs {
			if up := r.results[id]; up != nil && up.Status != Succeeded {
				why = "it needs " + id
			}
		}
		r.results[s.ID] = &result{step: s, StepOutcome: StepOutcome{ID: s.ID, Status: Skipped, Why: why}}
		r.record(r.Ledger.Append(ledger.StepSkipped, s.ID, ledger.Data{"reason": why}))
	}
}

// interruption makes a time limit or an interrupt between two steps a failure of the run itself.
func (r *run) interruption(ctx context.Context) {
	if r.failure != nil || ctx.Err() == nil || !r.anySkipped() {
		return
	}
	if errors.Is(context.Cause(ctx), errLimit) {
		r.failure = &Failure{Kind: fault.Agent, Timeout: true, Err: fmt.Errorf("the run took longer than %s", r.Plan.Policy.Timeout)}
		return
	}
	r.failure = &Failure{Kind: fault.Agent, Err: context.Canceled}
}

func (r *run) anySkipped() bool {
	for _, res := range r.results {
		if res.Status == Skipped {
			return true
		}
	}
	return false
}

// finish writes run.finished. alive is the id of a VM that could not be destroyed.
func (r *run) finish(ctx context.Context, alive string) Outcome {
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
		if errors.Is(context.Cause(ctx), context.Canceled) && ctx.Err() != nil {
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
	out.RecordErr = r.broken
	return out
}

// record takes the outcome of writing an entry. A ledger that cannot be written ends the run.
func (r *run) record(_ int64, err error) { r.fail(err) }

func (r *run) fail(err error) {
	if err != nil && r.broken == nil {
		r.broken = err
	}
}
