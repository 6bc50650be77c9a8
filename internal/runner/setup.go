package runner

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// setup is the id of the pseudo-step that prepares what lies below every other step, its kind on the record, the
// directory of /workspace that holds its script, and the name of the layer it leaves. No step of a plan has that id.
const setup = "setup"

// withSetup are the plan's steps, after the one that its setup makes.
func withSetup(p *plan.Plan) []plan.Step {
	if p.Setup == nil {
		return p.Steps
	}
	return append([]plan.Step{{
		ID: setup, Kind: setup, Timeout: p.Setup.Timeout, Egress: p.Setup.Egress, Sandbox: plan.Sandbox{Required: true},
		Entry: &plan.Entry{Path: path.Base(p.Setup.Run.Path), Argv: p.Setup.Argv},
	}}, p.Steps...)
}

// prepared says whether a step that runs in the VM may open its world.
func (r *run) prepared() bool {
	if r.Plan.Setup == nil {
		return true
	}
	res := r.results[setup]
	return res != nil && res.Status == Succeeded
}

// wanted says whether some step now waits for setup alone. It is not done for steps that may never be reached.
func (r *run) wanted() bool {
	return slices.ContainsFunc(r.Plan.Steps, func(s plan.Step) bool {
		_, begun := r.results[s.ID]
		return s.NeedsVM() && !begun && r.reached(s)
	})
}

// layers are what a step's world lies on, over the image.
func (r *run) layers() []string {
	if r.Plan.Setup == nil {
		return nil
	}
	return []string{setup}
}

// setupData is what step.started says of the script.
func (r *run) setupData() ledger.Data {
	f := r.Plan.Setup.Run
	return ledger.Data{"path": f.Path, "bytes": f.Size, "sha256": "sha256:" + f.SHA256}
}

// setup runs the frozen script in a world of its own, which has no input and no artifacts. When it has succeeded its
// world is closed, which ends everything in it, and what it wrote over the image is the layer of all later worlds.
func (r *run) setup(runCtx context.Context, s plan.Step, res *result) *Failure {
	return r.inVM(runCtx, s, func(ctx context.Context, sb sandbox.Sandbox, token string) *Failure {
		w, err := sb.Open(ctx, sandbox.WorldSpec{ID: setup, Env: baseEnvironment(token, s.Egress), ReadOnly: []string{setup}, Keep: setup, Alone: true})
		if err != nil {
			return r.failureOf(ctx, s, err)
		}
		if f := r.runSetup(ctx, w, s, res); f != nil {
			_ = r.leave(w)
			return f
		}
		if err := r.leave(w); err != nil {
			return &Failure{Kind: fault.Platform, Err: fmt.Errorf("keeping what setup wrote: %w", err)}
		}
		return nil
	})
}

func (r *run) runSetup(ctx context.Context, w sandbox.World, s plan.Step, res *result) *Failure {
	f := r.Plan.Setup.Run
	if err := w.Put(ctx, setup, []sandbox.File{{
		Path: s.Entry.Path, Mode: 0o755, Size: f.Size, Open: func() (io.ReadCloser, error) { return r.Bundle("", f) },
	}}); err != nil {
		return r.failureOf(ctx, s, fmt.Errorf("filling /workspace/%s: %w", setup, err))
	}
	cmd, err := r.command(ctx, w, s, entry(s, path.Join("/workspace", setup, s.Entry.Path), nil, nil), res)
	return r.commandFailure(ctx, s, cmd, err, res)
}

// leave closes a world. Its end is bounded, so that a starved VM cannot hold the run: a world that is not closed goes
// with the VM.
func (r *run) leave(w sandbox.World) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	defer context.AfterFunc(r.SkipCollect, cancel)()
	return w.Close(ctx)
}

// inVM does a step's work in the VM with a token of its own, which opens nothing any more when the work has ended. The
// context that work gets ends, too, when the step's door is closed for good. The step's time begins when the VM is there:
// a boot has bounds of its own, and whether it was this step that had to wait for one is not the script's affair.
func (r *run) inVM(runCtx context.Context, s plan.Step, work func(ctx context.Context, sb sandbox.Sandbox, token string) *Failure) (f *Failure) {
	sb, err := r.vm.get(runCtx, s.ID)
	if err != nil {
		if runCtx.Err() == nil {
			err = fmt.Errorf("the VM could not be started: %w", err)
		}
		return r.failureOf(runCtx, s, err)
	}
	timed, cancel := limited(runCtx, s)
	defer cancel()
	ctx, end := context.WithCancelCause(timed)
	defer end(nil)
	token, err := r.Broker.Issue(s.ID, broker.Terms{
		Limit: time.Duration(s.Timeout), Egress: s.Egress, Tools: s.Tools, Approve: s.Approve, Breach: r.breached(end),
	})
	if err != nil {
		return r.failureOf(ctx, s, err)
	}
	defer func() {
		if err := r.Broker.Revoke(s.ID); err != nil && f == nil {
			f = &Failure{Kind: fault.Platform, Err: err}
		}
	}()
	f = work(ctx, sb, token)
	if why := forbidden(ctx); why != nil && (f == nil || f.Kind == fault.Agent) { // as the work came to an end by itself
		return ofFault(why)
	}
	return f
}

// commandFailure says how a command failed the step, or nil.
func (r *run) commandFailure(ctx context.Context, s plan.Step, cmd *command, err error, res *result) *Failure {
	switch {
	case err != nil:
		return r.failureOf(ctx, s, err)
	case !cmd.symbolic && res.ExitCode != 0:
		return &Failure{Kind: fault.Agent, Err: cmd.failure()}
	}
	return nil
}

// admit waits for the run's place among the VMs of this user, when the plan needs one, and gives it back with leave.
// Nothing of the run has begun by then and its time limit has not either: waiting is no work of the agent.
func (r *run) admit(ctx context.Context) (leave func()) {
	leave = func() {}
	if r.Admit == nil || r.broken != nil || !slices.ContainsFunc(r.Plan.Steps, plan.Step.NeedsVM) {
		return leave
	}
	begun, waited := r.Now(), false
	got, err := r.Admit(ctx, func(reason string) {
		waited = true
		r.record(r.Ledger.Append(ledger.RunWaiting, "", ledger.Data{"reason": r.scribe.Text(reason)}))
	})
	switch {
	case err == nil:
		leave = got
	case ctx.Err() == nil:
		r.failure = &Failure{Kind: fault.Platform, Err: fmt.Errorf("waiting for a place for the VM: %w", err)}
	}
	if waited && err == nil {
		r.record(r.Ledger.Append(ledger.RunResumed, "", ledger.Data{"ms": r.Now().Sub(begun).Milliseconds()}))
	}
	return leave
}
