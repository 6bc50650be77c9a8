package runner

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
)

func TestNoPlaceForTheVM(t *testing.T) {
	r := newRig(t, script("a"))
	r.Admit = func(context.Context, func(string)) (func(), error) {
		return nil, errors.New("the queue cannot be read")
	}
	out := r.finished(t)
	require.Equal(t, fault.Platform, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "the queue cannot be read")
	require.Equal(t, []string{"run.started", "step.skipped a", "run.finished"}, r.story())
	require.Equal(t, "the run was ended first", r.one(t, "step.skipped").String("reason"))
}

func TestInterruptedWhileWaiting(t *testing.T) {
	r := newRig(t, script("a"))
	ctx, cancel := context.WithCancel(t.Context())
	r.Admit = func(ctx context.Context, waiting func(string)) (func(), error) {
		waiting("2 VMs run")
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	out := r.run(t, ctx)
	r.requireComplete(t)
	require.Equal(t, Interrupted, out.Status)
	require.Equal(t, []string{"run.started", "run.waiting", "step.skipped a", "run.finished"}, r.story())
	require.Equal(t, "2 VMs run", r.one(t, "run.waiting").String("reason"))
}

// Waiting is no work of the agent: neither the run's time limit nor a step's has begun.
func TestWaitingIsNotTheAgentsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, script("a"))
		r.Plan.Policy.Timeout, r.Plan.Steps[0].Timeout = policy.Duration(time.Second), policy.Duration(time.Second)
		left := false
		r.Admit = func(ctx context.Context, waiting func(string)) (func(), error) {
			_, limited := ctx.Deadline()
			require.False(t, limited)
			waiting("2 VMs run")
			time.Sleep(time.Hour) // of the bubble's clock
			return func() { left = r.vm.destroys.Load() == 1 }, nil
		}
		require.Equal(t, Succeeded, r.finished(t).Status)
		require.Equal(t, []string{"run.started", "run.waiting", "run.resumed", "step.started a"}, r.story()[:4])
		require.True(t, left, "the place is given back when the VM is gone")
	})
}

func TestNoPlaceIsTaken(t *testing.T) {
	fetch := plan.Step{ID: "fetch", Kind: plan.Action, Action: "sales.list", With: json.RawMessage(`{}`), Timeout: script("x").Timeout}
	r := newRig(t, fetch)
	r.Call = echo
	r.Admit = func(context.Context, func(string)) (func(), error) {
		t.Error("no step needs the VM")
		return nil, nil
	}
	require.Equal(t, Succeeded, r.finished(t).Status)
}
