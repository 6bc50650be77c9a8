package runner

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Each of two steps without an edge waits for the other to have started: they can only end side by side.
func TestStepsWithoutAnEdgeOverlap(t *testing.T) {
	r := newRig(t, script("left"), script("right"), script("last", "left", "right"))
	started := map[string]chan struct{}{"left": make(chan struct{}), "right": make(chan struct{})}
	meet := func(mine, other string) func(*scene) (sandbox.Result, error) {
		return func(s *scene) (sandbox.Result, error) {
			close(started[mine])
			select {
			case <-started[other]:
			case <-s.ctx.Done():
				return sandbox.Result{}, s.ctx.Err()
			}
			s.print("{}")
			return sandbox.Result{}, nil
		}
	}
	r.on("left", meet("left", "right"))
	r.on("right", meet("right", "left"))
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	story := r.story()
	for _, before := range []string{"step.finished left", "step.finished right"} {
		require.Less(t, slices.Index(story, before), slices.Index(story, "step.started last"))
	}
	require.EqualValues(t, 1, r.vm.creates.Load())
	require.EqualValues(t, 1, r.vm.destroys.Load())
}

func TestManyStepsShareOneVM(t *testing.T) {
	var steps []plan.Step
	for i := range 3 * maxParallel {
		steps = append(steps, script(fmt.Sprintf("s%d", i)))
	}
	r := newRig(t, steps...)
	require.Equal(t, Succeeded, r.finished(t).Status)
	ended := slices.IndexFunc(r.list, func(e verify.Entry) bool { return e.Type == "step.finished" })
	begun := 0
	for _, e := range r.list[:ended] {
		if e.Type == "step.started" {
			begun++
		}
	}
	require.Equal(t, maxParallel, begun, "no more run at once")
	require.EqualValues(t, 1, r.vm.creates.Load())
	require.Equal(t, 1, r.count("sandbox.requested"))
	require.Equal(t, 1, r.count("sandbox.destroyed"))
	for i, e := range r.all("step.started") {
		require.Equal(t, fmt.Sprintf("s%d", i), e.Step, "ready steps start in the plan's order")
	}
}

// The same run twice has the same ledger but for times, ids and tokens.
func TestOrderIsTheSameEveryTime(t *testing.T) {
	tell := func() []string {
		r := newRig(t, script("a"), script("b", "a"), script("c", "b"))
		r.on("a", func(s *scene) (sandbox.Result, error) {
			s.keep("z.txt", "z")
			s.keep("a.txt", "a")
			s.print("{}")
			return sandbox.Result{}, nil
		})
		r.finished(t)
		return r.story()
	}
	require.Equal(t, []string{
		"run.started",
		"step.started a", "sandbox.requested a", "sandbox.created a", "token.issued a", "command.started a", "command.finished a",
		"artifact.stored a", "artifact.stored a", "token.revoked a", "step.finished a",
		"step.started b", "token.issued b", "command.started b", "command.finished b", "token.revoked b", "step.finished b",
		"step.started c", "token.issued c", "command.started c", "command.finished c", "token.revoked c", "step.finished c",
		"sandbox.destroyed", "run.finished",
	}, tell())
	require.Equal(t, tell(), tell())
}

func TestNoVMWhenNoStepNeedsOne(t *testing.T) {
	s := plan.Step{ID: "fetch", Kind: plan.Action, Action: "sales.list", With: json.RawMessage(`{"n": 1}`), Timeout: script("x").Timeout}
	r := newRig(t, s)
	r.Call = echo
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	require.Equal(t, map[string]any{"n": json.Number("1")}, out.Steps[0].Output)
	require.Zero(t, r.vm.creates.Load())
	require.Equal(t, []string{"run.started", "step.started fetch", "step.finished fetch", "run.finished"}, r.story())
}

func TestWithoutAWorkerAStepIsRefused(t *testing.T) {
	r := newRig(t, plan.Step{ID: "fetch", Kind: plan.Prompt, With: json.RawMessage(`{}`), Timeout: script("x").Timeout})
	out := r.finished(t)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, fault.Input, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "is worked by a model, and the run has none")
}
