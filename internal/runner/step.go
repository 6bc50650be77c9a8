package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// step does the work of one step and fills res. A nil Failure is success. runCtx ends with the run, ctx also with the
// step's own time limit.
func (r *run) step(ctx, runCtx context.Context, s plan.Step, up map[string]*result, res *result) *Failure {
	input, err := r.resolve(s, up)
	if err != nil {
		return &Failure{Kind: fault.Input, Err: err}
	}
	skill, _ := r.Plan.Skill(s.Skill)
	if err := checkSchema(skill.InputSchema, input.tree, "the input"); err != nil {
		return &Failure{Kind: fault.Input, Err: err}
	}
	if s.Kind != plan.Script {
		return r.outside(ctx, s, input, res)
	}
	f := r.script(ctx, runCtx, s, skill, input, up, res)
	if f == nil {
		if err := checkSchema(skill.OutputSchema, res.Output, "the result"); err != nil {
			f = &Failure{Kind: fault.Agent, Err: err}
		}
	}
	return f
}

// outside is a step without a declared entry point: its worker is on the host.
func (r *run) outside(ctx context.Context, s plan.Step, in *input, res *result) *Failure {
	work, what := r.Prompt, "instruction skills"
	if s.Kind == plan.Action {
		work, what = r.Call, "actions"
	}
	if work == nil {
		return &Failure{Kind: fault.Input, Err: fmt.Errorf("step %s: this version of joy does not run %s yet", s.ID, what)}
	}
	var err error
	if res.Output, err = work(ctx, s, in.tree); err != nil {
		return r.failureOf(ctx, s, err)
	}
	return nil
}

// script runs a declared entry point in a world of its own.
func (r *run) script(ctx, runCtx context.Context, s plan.Step, skill plan.Skill, in *input, up map[string]*result, res *result) (f *Failure) {
	token, err := r.Broker.Issue(s.ID, time.Duration(s.Timeout))
	if err != nil {
		return r.failureOf(ctx, s, err)
	}
	defer func() {
		if err := r.Broker.Revoke(s.ID); err != nil && f == nil {
			f = &Failure{Kind: fault.Platform, Err: err}
		}
	}()
	sb, err := r.vm.get(ctx, runCtx, s.ID)
	if err != nil {
		if f := r.failureOf(ctx, s, err); ctx.Err() != nil {
			return f
		}
		return bootFailure(err)
	}
	env, left := environment(skill.Name, in, token)
	w, err := r.world(ctx, sb, s, skill, in, up, env)
	if err != nil {
		return r.failureOf(ctx, s, err)
	}
	defer r.leave(w)
	cmd, err := r.command(ctx, w, s, skill, left, res)
	if err != nil {
		f = r.failureOf(ctx, s, err)
	}
	if !errors.Is(err, sandbox.ErrLost) && !cmd.symbolic {
		if cf := r.collect(runCtx, w, s, cmd, res); f == nil {
			f = cf
		}
	}
	if f != nil {
		return f
	}
	if cmd.symbolic {
		res.Output = plan.Symbol("steps." + s.ID + ".output")
		return nil
	}
	if res.ExitCode != 0 {
		return &Failure{Kind: fault.Agent, Err: cmd.failure()}
	}
	if res.Output, err = cmd.result(); err != nil {
		return &Failure{Kind: fault.Agent, Err: err}
	}
	return nil
}

// leave closes a world; its own end is bounded so that a starved VM cannot hold the run.
func (r *run) leave(w sandbox.World) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// A world that cannot be closed goes with the VM.
	_ = w.Close(ctx)
}

// failureOf says whose failure err is. The step's limit and the run's come before what they broke.
func (r *run) failureOf(ctx context.Context, s plan.Step, err error) *Failure {
	switch {
	case errors.Is(err, sandbox.ErrLost):
		return &Failure{Kind: fault.Platform, Err: err}
	case errors.Is(context.Cause(ctx), errLimit):
		return &Failure{Kind: fault.Agent, Timeout: true, Err: fmt.Errorf("the run took longer than %s", r.Plan.Policy.Timeout)}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Failure{Kind: fault.Agent, Timeout: true, Err: fmt.Errorf("the step took longer than %s", s.Timeout)}
	case ctx.Err() != nil:
		return &Failure{Kind: fault.Agent, Err: errors.New("interrupted")}
	}
	return &Failure{Kind: fault.KindOf(err), Err: err}
}

// input is a step's resolved input: the tree with files and symbols in it, and its JSON.
type input struct {
	tree      any
	json      []byte
	files     map[string]FileInput // file inputs it refers to
	artifacts []plan.ArtifactRef
}

// resolve puts values in the place of the step's references.
func (r *run) resolve(s plan.Step, up map[string]*result) (*input, error) {
	in := &input{files: map[string]FileInput{}}
	tree, err := plan.Resolve(s.With, func(ref plan.Ref) (any, error) {
		switch ref.Root {
		case plan.RootInputs:
			return r.runInput(in, ref)
		case plan.RootOutput:
			res := up[ref.Step]
			if res == nil {
				return nil, fmt.Errorf("step %s has no output", ref.Step)
			}
			return res.Output, nil
		default:
			return artifactOf(up[ref.Step], ref)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("the input of %s: %w", s.ID, err)
	}
	in.tree = tree
	if in.json, err = marshal(tree); err != nil {
		return nil, fmt.Errorf("the input of %s: %w", s.ID, err)
	}
	return in, nil
}

// runInput is the run's input as the step sees it: a file input is its path.
func (r *run) runInput(in *input, ref plan.Ref) (any, error) {
	tree, err := unmarshal(r.Input)
	if err != nil {
		return nil, err
	}
	top, _ := tree.(map[string]any)
	for name, f := range r.Files {
		if len(ref.Path) > 0 && ref.Path[0].Key != name {
			continue
		}
		in.files[name] = f
		top[name] = "/workspace/in/" + f.Name
	}
	return tree, nil
}

func artifactOf(res *result, ref plan.Ref) (any, error) {
	if res == nil {
		return nil, fmt.Errorf("step %s has left nothing", ref.Step)
	}
	if _, unknown := res.Output.(plan.Symbol); unknown {
		return plan.Symbol(ref.String()), nil
	}
	names := make([]string, 0, len(res.Artifacts))
	for _, a := range res.Artifacts {
		if a.Name == ref.Artifact {
			return plan.ArtifactRef{Step: ref.Step, Name: a.Name, SHA256: a.SHA256, Size: a.Size}, nil
		}
		names = append(names, a.Name)
	}
	return nil, fmt.Errorf("step %s left no %q in /workspace/out, but %q", ref.Step, ref.Artifact, names)
}
