package runner

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// hang waits until the command is killed, as a VM does it.
func hang(s *scene) (sandbox.Result, error) {
	s.keep("half.txt", "half")
	s.print("so far")
	<-s.ctx.Done()
	return sandbox.Result{}, s.ctx.Err()
}

// In a bubble a limit falls when all that the run does has come to its wait, however slow the machine is.
func TestTimeLimits(t *testing.T) {
	const limit = policy.Duration(30 * time.Millisecond)
	for name, tc := range map[string]struct {
		set  func(r *rig)
		want string
	}{
		"of a step":  {func(r *rig) { r.Plan.Steps[0].Timeout = limit }, "the step took longer than 30ms"},
		"of the run": {func(r *rig) { r.Plan.Policy.Timeout = limit }, "the run took longer than 30ms"},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := newRig(t, script("slow"), script("next", "slow"))
			tc.set(r)
			r.on("slow", hang)
			out := r.finished(t)
			require.Equal(t, Failed, out.Status)
			require.True(t, out.Failure.Timeout)
			require.EqualError(t, out.Failure.Err, tc.want)
			require.Equal(t, -1, out.step("slow").ExitCode)
			require.Equal(t, "so far", string(out.step("slow").Tail))
			require.Len(t, out.step("slow").Artifacts, 1, "what was made until then is kept")
			require.Equal(t, "time limit", r.one(t, "command.finished").String("ended_by"))
			require.Equal(t, true, r.one(t, "run.finished").Data["timeout"])
			require.Equal(t, "failed", r.one(t, "run.finished").String("outcome"))
			require.Equal(t, "next", r.one(t, "step.skipped").Step)
		})
	}
}

func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// The run's limit also falls between steps: then it is no step's failure.
func TestTimeLimitBetweenSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, script("a"), script("b", "a"))
		r.Plan.Policy.Timeout = policy.Duration(30 * time.Millisecond)
		r.on("a", func(s *scene) (sandbox.Result, error) {
			<-s.ctx.Done() // the command had just ended by itself
			s.print("{}")
			return sandbox.Result{}, nil
		})
		out := r.finished(t)
		require.Equal(t, Succeeded, out.step("a").Status)
		require.Equal(t, Failed, out.Status)
		require.True(t, out.Failure.Timeout)
		require.Empty(t, out.Failure.Step)
		require.Equal(t, "the run was ended first", r.one(t, "step.skipped").String("reason"))
	})
}

func TestInterrupt(t *testing.T) {
	for name, cause := range map[string]error{"cancelled": nil, "by a signal": errors.New("stopped by SIGTERM")} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("slow"), script("next", "slow"))
			ctx, cancel := context.WithCancelCause(t.Context())
			r.on("slow", func(s *scene) (sandbox.Result, error) {
				cancel(cause)
				return hang(s)
			})
			out := r.run(t, ctx)
			r.requireComplete(t)
			require.Equal(t, Interrupted, out.Status)
			require.False(t, out.Failure.Timeout)
			require.EqualError(t, out.Failure.Err, "interrupted")
			require.Equal(t, "interrupt", r.one(t, "command.finished").String("ended_by"))
			require.Equal(t, "half.txt", r.one(t, "artifact.stored").String("name"))
			require.Equal(t, "interrupted", r.one(t, "run.finished").String("outcome"))
			require.EqualValues(t, 1, r.vm.destroys.Load())
		})
	}
}

func TestInterruptBeforeTheFirstStep(t *testing.T) {
	r := newRig(t, script("a"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := r.run(t, ctx)
	r.requireComplete(t)
	require.Equal(t, Interrupted, out.Status)
	require.Equal(t, []string{"run.started", "step.skipped a", "run.finished"}, r.story())
	require.Zero(t, r.vm.creates.Load())
}

// The second interrupt ends a collection that takes too long. The VM is destroyed all the same.
func TestSkipCollect(t *testing.T) {
	r := newRig(t, script("slow"))
	ctx, cancel := context.WithCancel(t.Context())
	skip, second := context.WithCancel(t.Context())
	r.SkipCollect = skip
	r.on("slow", func(s *scene) (sandbox.Result, error) {
		cancel()
		return hang(s)
	})
	r.vm.collect = func(ctx context.Context, _ *scene) ([]sandbox.Skip, error) {
		second()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := r.run(t, ctx)
	r.requireComplete(t)
	require.Equal(t, Interrupted, out.Status)
	require.EqualError(t, out.Failure.Err, "interrupted", "the first thing that went wrong")
	require.Contains(t, r.one(t, "artifact.skipped").String("reason"), "ended early")
	require.EqualValues(t, 1, r.vm.destroys.Load())
}

// A step's time is its own: it begins when the VM is there, however long that took.
func TestBootIsNotTheStepsTime(t *testing.T) {
	r := newSetupRig(t, script("a"))
	const limit = time.Minute
	r.Plan.Setup.Timeout, r.Plan.Steps[0].Timeout = policy.Duration(limit), policy.Duration(limit)
	var booted time.Time
	r.vm.create = func(context.Context, sandbox.Spec) error {
		booted = time.Now()
		return nil
	}
	r.on("setup", func(s *scene) (sandbox.Result, error) {
		ends, limited := s.ctx.Deadline()
		require.True(t, limited)
		require.False(t, ends.Before(booted.Add(limit)))
		return sandbox.Result{}, nil
	})
	require.Equal(t, Succeeded, r.finished(t).Status)
	require.Less(t, index(r.story(), "sandbox.created setup"), index(r.story(), "token.issued setup"), "so is its token's")
}

// A boot that takes too long ends with the run.
func TestBootEndsWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, script("a"))
		r.Plan.Policy.Timeout = policy.Duration(30 * time.Millisecond)
		r.vm.create = func(ctx context.Context, _ sandbox.Spec) error {
			<-ctx.Done()
			return ctx.Err()
		}
		out := r.finished(t)
		require.Equal(t, fault.Agent, out.Failure.Kind)
		require.True(t, out.Failure.Timeout)
		require.Equal(t, false, r.one(t, "sandbox.destroyed").Data["booted"])
	})
}
