package runner

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// step does the work of one step and fills res. A nil Failure is success. runCtx ends with the run.
func (r *run) step(runCtx context.Context, s plan.Step, up map[string]*result, res *result) *Failure {
	if s.Kind == setup {
		return r.setup(runCtx, s, res)
	}
	in, err := r.resolve(s, up)
	if err != nil {
		return inputFailure(err)
	}
	skill, _ := r.Plan.Skill(s.Skill)
	if err := r.checkInput(s, skill, in.tree); err != nil {
		return &Failure{Kind: fault.Input, Err: err}
	}
	var f *Failure
	switch {
	case s.Kind == plan.Script:
		f = r.script(runCtx, s, skill, in, up, res)
	case s.Kind == plan.Prompt && r.Prompt == nil:
		f = r.prompt(runCtx, s, skill, in, up, res)
	default:
		f = r.outside(runCtx, s, in, res)
	}
	if sf := r.scrubOutput(s, res); f == nil {
		f = sf
	}
	if f != nil {
		return f
	}
	if err := checkSchema(skill.OutputSchema, res.Output, "the result", "the skill"); err != nil {
		return &Failure{Kind: fault.Agent, Err: err}
	}
	return nil
}

// limited is the time that a step has. It begins where the step's own work can begin.
func limited(runCtx context.Context, s plan.Step) (context.Context, context.CancelFunc) {
	return context.WithTimeout(runCtx, time.Duration(s.Timeout))
}

// outside is a step without a declared entry point: its worker is on the host.
func (r *run) outside(runCtx context.Context, s plan.Step, in *input, res *result) *Failure {
	ctx, cancel := limited(runCtx, s)
	defer cancel()
	work := r.Prompt
	if s.Kind == plan.Action {
		if work = r.Call; work == nil {
			work = r.action
		}
	}
	out, err := work(ctx, s, in.tree)
	if err != nil {
		return r.callFailure(ctx, s, err)
	}
	res.Output = out
	return nil
}

// callFailure is how a call failed its step. That nobody knows what became of a call is said whatever ended it.
func (r *run) callFailure(ctx context.Context, s plan.Step, err error) *Failure {
	if errors.Is(err, broker.ErrCredential) {
		r.halt(err)
		return ofFault(err)
	}
	f := r.failureOf(ctx, s, err)
	if errors.Is(err, connection.ErrUnknown) && !errors.Is(f.Err, connection.ErrUnknown) {
		f.Err = fmt.Errorf("%w; %w", f.Err, connection.ErrUnknown)
	}
	return f
}

// checkInput holds a step's input to the schema of its bundle or of its tool.
func (r *run) checkInput(s plan.Step, skill plan.Skill, tree any) error {
	if s.Kind == plan.Action {
		return checkSchema(broker.Pins(r.Plan.Connections).InputSchema(s.Action), tree, "the input", s.Action)
	}
	return checkSchema(skill.InputSchema, tree, "the input", "the skill")
}

// script runs a declared entry point in a world of its own.
func (r *run) script(runCtx context.Context, s plan.Step, skill plan.Skill, in *input, up map[string]*result, res *result) *Failure {
	return r.inVM(runCtx, s, func(ctx context.Context, sb sandbox.Sandbox, token string) *Failure {
		if err := whole(up); err != nil {
			return &Failure{Kind: fault.Platform, Err: err}
		}
		env, left := environment(s, in, token)
		w, err := r.world(ctx, sb, s, skill, in, up, env)
		if err != nil {
			return r.failureOf(ctx, s, err)
		}
		defer func() { _ = r.leave(w) }()
		cmd, err := r.command(ctx, w, s, entry(s, path.Join("/workspace/skills", skill.Name, s.Entry.Path), in, left), res)
		f := r.conclude(ctx, s, cmd, err, res)
		if cmd.seq > 0 && !cmd.symbolic && !errors.Is(err, sandbox.ErrLost) {
			if cf := r.collect(runCtx, w, s, cmd, res); f == nil {
				f = cf
			}
		}
		return r.denied(s, f)
	})
}

// conclude reads a step's result from how its command ended and what it printed.
func (r *run) conclude(ctx context.Context, s plan.Step, cmd *command, err error, res *result) *Failure {
	if f := r.commandFailure(ctx, s, cmd, err, res); f != nil {
		return f
	}
	if cmd.symbolic {
		res.Output = plan.Symbol("steps." + s.ID + ".output")
		return nil
	}
	out, err := cmd.result()
	if err != nil {
		return &Failure{Kind: fault.Agent, Err: err}
	}
	res.Output = out
	return nil
}

// failureOf says whose failure err is. What ended the step from outside comes before what that broke.
func (r *run) failureOf(ctx context.Context, s plan.Step, err error) *Failure {
	cause := context.Cause(ctx)
	switch why := forbidden(ctx); {
	case why != nil:
		return ofFault(why)
	case errors.Is(err, sandbox.ErrLost):
		return &Failure{Kind: fault.Platform, Err: err}
	case errors.Is(cause, errUnrecorded):
		return &Failure{Kind: fault.Platform, Err: errUnrecorded}
	case errors.Is(cause, errLimit):
		return r.limitFailure()
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Failure{Kind: fault.Agent, Timeout: true, Err: fmt.Errorf("the step took longer than %s", s.Timeout)}
	case ctx.Err() != nil:
		return &Failure{Kind: fault.Agent, Err: ErrInterrupted}
	}
	return ofFault(err)
}

// ofFault is a failure of the kind that err says.
func ofFault(err error) *Failure {
	kind := fault.KindOf(err)
	f := &Failure{Kind: failureKind(kind), Drift: kind == fault.Drift, Consent: kind == fault.Consent, Err: err}
	var e *fault.Error
	if errors.As(err, &e) && e.Code == broker.CodeApproval {
		f.Kind = fault.Policy
	}
	return f
}

func (r *run) limitFailure() *Failure {
	return &Failure{Kind: fault.Agent, Timeout: true, Err: fmt.Errorf("the run took longer than %s", r.Plan.Policy.Timeout)}
}

// failureKind is one of the five kinds a run's failure may have.
func failureKind(kind fault.Kind) fault.Kind {
	switch kind {
	case fault.Agent, fault.Input, fault.Connection, fault.Policy:
		return kind
	case fault.Consent:
		return fault.Connection
	}
	return fault.Platform
}
