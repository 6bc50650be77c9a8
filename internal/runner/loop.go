package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/record"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Causes for which the context of a run ends, besides what its caller ended it for.
var (
	errLimit      = errors.New("the run's time limit")
	errUnrecorded = errors.New("the run cannot be recorded any more")
)

// ErrInterrupted is the failure of what the caller has ended. Its kind says nothing: no code and no answer was at fault.
var ErrInterrupted = errors.New("interrupted")

// run is the state of one run. Only the goroutine of execute changes it; a step gets the results of its predecessors,
// which have ended, and sends its own.
type run struct {
	Config
	scribe  record.Scribe
	begun   time.Time
	vm      *machine
	steps   []plan.Step        // the plan's, after setup when it has one
	results map[string]*result // of ended steps; nil while one runs
	running int
	ended   chan *result
	spent   spent
	failure *Failure // the first
	broken  error    // the record failed: nothing new starts, what runs is ended, nothing is finished
	stop    context.CancelCauseFunc
}

// result is how a step ended.
type result struct {
	step plan.Step
	StepOutcome
	withheld []string // names of its files that were quarantined
}

func (r *run) execute(ctx context.Context) Outcome {
	ctx, r.stop = context.WithCancelCause(ctx)
	r.begin()
	defer r.admit(ctx)()
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(r.Plan.Policy.Timeout), errLimit)
	defer cancel()
	r.connect(ctx)
	r.dispatch(ctx)
	for r.running > 0 {
		res := <-r.ended
		r.running--
		r.settle(res)
		r.dispatch(ctx)
	}
	r.skipRest()
	cause := context.Cause(ctx)
	r.unfinished(cause)
	cancel() // a boot that nobody waits for any more
	alive := r.vm.destroy()
	if alive != "" && r.failure == nil {
		r.failure = &Failure{Kind: fault.Platform, Err: fmt.Errorf("the VM %s may still be alive", alive)}
	}
	r.fail(r.Broker.Close())
	return r.finish(interrupted(cause), alive)
}

// interrupted says whether a run whose context ended for cause was ended by its caller.
func interrupted(cause error) bool {
	var halted *halt
	return cause != nil && !errors.Is(cause, errLimit) && !errors.Is(cause, errUnrecorded) && !errors.As(cause, &halted)
}

// begin writes run.started. Files are told by what they hold, and the input by its scrubbed form, which is kept.
func (r *run) begin() {
	input, err := r.keepJSON(r.Input)
	r.fail(err)
	d := ledger.Data{
		"plan": r.Plan.Digest, "agent": r.Plan.Agent.Name, "workspace": r.Plan.Agent.Workspace,
		"input": input, "provider": r.Provider.Name(),
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
	if r.broken == nil {
		r.record(r.Ledger.Effect(ledger.RunStarted, "", d))
	}
}

// connect starts the services of the plan. What keeps one of them from being used is a failure of the run, before any step
// has done anything.
func (r *run) connect(ctx context.Context) {
	if r.broken != nil || r.failure != nil {
		return
	}
	if err := r.Broker.Start(ctx); err != nil && ctx.Err() == nil {
		r.failure = ofFault(err)
		r.failure.Err = r.scrubbed(err)
	}
}

// dispatch starts every step whose predecessors have succeeded, in the plan's order. After a failure or an
// interruption nothing new starts.
func (r *run) dispatch(ctx context.Context) {
	for _, s := range r.steps {
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
	if s.Kind == setup {
		return r.wanted()
	}
	return r.reached(s) && (!s.NeedsVM() || r.prepared())
}

// reached says whether every step that s needs has succeeded.
func (r *run) reached(s plan.Step) bool {
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
	if s.Kind == setup {
		d["script"] = r.setupData()
	}
	if s.Action != "" {
		d["action"] = s.Action
	}
	return d
}

// upstream are the results a step may see: of its direct predecessors, which include every step it refers to.
func (r *run) upstream(s plan.Step) map[string]*result {
	seen := map[string]*result{}
	for _, id := range s.Needs {
		seen[id] = r.results[id]
	}
	return seen
}

// perform runs one step and sends how it ended, whatever happens in it.
func (r *run) perform(runCtx context.Context, s plan.Step, up map[string]*result) {
	res := &result{step: s, StepOutcome: StepOutcome{ID: s.ID, ExitCode: -1}}
	defer func() {
		if p := recover(); p != nil {
			res.Failure = &Failure{Kind: fault.Platform, Err: fmt.Errorf("joy itself failed: %v\n%s", p, debug.Stack())}
		}
		r.ended <- res
	}()
	begun := r.Now()
	res.Failure = r.step(runCtx, s, up, res)
	if f := res.Failure; f != nil && errors.Is(f.Err, sandbox.ErrLost) && r.vm.sandbox != nil {
		r.vm.noteLoss(r.vm.sandbox)
	}
	res.Duration = r.Now().Sub(begun)
}

// settle takes the end of a step into the state and onto the record.
func (r *run) settle(res *result) {
	r.results[res.ID] = res
	res.Status = Succeeded
	d := ledger.Data{"status": Succeeded, "ms": res.Duration.Milliseconds()}
	if f := res.Failure; f != nil {
		f.Step, f.Err, res.Status = res.ID, r.scrubbed(f.Err), Failed
		d["status"], d["failure_kind"], d["error"] = Failed, string(f.Kind), r.scribe.Text(f.Err.Error())
		if f.Timeout {
			d["timeout"] = true
		}
		if f.Consent {
			d["consent"] = true
		}
		if r.failure == nil {
			r.failure = f
		}
	}
	if res.Output != nil {
		output, err := r.keepJSON(res.Output)
		r.fail(err)
		d["output"] = output
	}
	r.record(r.Ledger.Append(ledger.StepFinished, res.ID, d))
}

// record takes the outcome of writing an entry. A ledger that cannot be written ends the run, and what runs in it: the
// rest would happen without a record.
func (r *run) record(_ int64, err error) { r.fail(err) }

func (r *run) fail(err error) {
	if err != nil && r.broken == nil {
		r.broken = err
		r.stop(errUnrecorded)
	}
}
