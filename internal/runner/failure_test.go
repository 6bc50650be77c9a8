package runner

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// echo is a worker that answers with its input.
func echo(_ context.Context, _ plan.Step, input any) (any, error) { return input, nil }

// After the first failure nothing new starts; what runs beside it ends by itself; what waits is told why it does not run.
func TestFirstFailureStopsWhatIsNew(t *testing.T) {
	r := newRig(t, script("later", "child"), script("bad"), script("beside"), script("child", "bad"), script("unrelated", "beside"))
	failed := r.tee.when("step.finished", "bad")
	r.on("bad", func(s *scene) (sandbox.Result, error) {
		s.print("no result")
		_, _ = fmt.Fprintln(s.stderr, "why it failed")
		return sandbox.Result{ExitCode: 7}, nil
	})
	r.on("beside", func(s *scene) (sandbox.Result, error) {
		<-failed
		s.keep("done.txt", "done")
		s.print(`{"ok":true}`)
		return sandbox.Result{}, s.ctx.Err()
	})
	out := r.finished(t)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, "bad", out.Failure.Step)
	require.Equal(t, fault.Agent, out.Failure.Kind)
	require.Equal(t, 7, out.step("bad").ExitCode)
	require.Equal(t, "why it failed", string(out.step("bad").Tail))
	require.FileExists(t, out.step("bad").Log+".stderr")
	require.Equal(t, Succeeded, out.step("beside").Status)
	require.Len(t, out.step("beside").Artifacts, 1)
	skips := map[string]string{}
	for _, e := range r.all("step.skipped") {
		skips[e.Step] = e.String("reason")
	}
	require.Equal(t, map[string]string{
		"child": "it needs bad, which failed", "later": "it needs bad, which failed", "unrelated": "after the failure of bad",
	}, skips)
	end := r.one(t, "run.finished")
	require.Equal(t, "failed", end.String("outcome"))
	require.Equal(t, "bad", end.String("step"))
	require.Equal(t, map[string]any{"succeeded": int64(1), "failed": int64(1), "skipped": int64(3)}, end.Data["steps"])
}

func TestKindsOfFailure(t *testing.T) {
	for name, tc := range map[string]struct {
		result sandbox.Result
		stdout string
		err    error
		kind   fault.Kind
		drift  bool
		want   string
		exit   int
	}{
		"exit status":         {result: sandbox.Result{ExitCode: 3}, stdout: "{}", kind: fault.Agent, want: "exited with status 3", exit: 3},
		"a signal":            {result: sandbox.Result{ExitCode: 137, Signal: "SIGKILL"}, kind: fault.Agent, want: "ended by SIGKILL", exit: 137},
		"out of memory":       {result: sandbox.Result{ExitCode: 137, Signal: "SIGKILL", Reason: "oom"}, kind: fault.Agent, want: "out of memory", exit: 137},
		"too many processes":  {result: sandbox.Result{ExitCode: 254, Reason: "pids"}, kind: fault.Agent, want: "too many processes", exit: 254},
		"a full disk":         {result: sandbox.Result{ExitCode: 1, Reason: "disk"}, stdout: "{}", kind: fault.Agent, want: "filled its share of the disk", exit: 1},
		"no result":           {kind: fault.Agent, want: "printed no result", exit: 0},
		"could not be run":    {err: errors.New("exec python3: no such file"), kind: fault.Agent, want: "no such file", exit: -1},
		"what nobody has":     {result: sandbox.Result{ExitCode: 1 << 60}, stdout: "{}", kind: fault.Agent, want: "exit status that there is not", exit: -1},
		"denied":              {err: fault.New(fault.Policy, "no"), kind: fault.Agent, want: "no", exit: -1},
		"invalid UTF-8 words": {result: sandbox.Result{ExitCode: 1, Signal: "\xff\x00"}, kind: fault.Agent, want: "ended by", exit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			r.on("a", func(s *scene) (sandbox.Result, error) {
				s.print(tc.stdout)
				return tc.result, tc.err
			})
			out := r.finished(t)
			require.Equal(t, Failed, out.Status)
			require.Equal(t, tc.kind, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, tc.want)
			require.Equal(t, tc.exit, out.Steps[0].ExitCode)
			require.Nil(t, out.Steps[0].Output)
			require.Empty(t, r.one(t, "step.finished").Data["output"])
			require.Equal(t, string(tc.kind), r.one(t, "run.finished").String("failure_kind"))
		})
	}
}

// failure_kind is one of five, whatever broke; a drifted image is told apart, for its exit code.
func TestKindsOnRecordAreFive(t *testing.T) {
	for kind, want := range map[fault.Kind]fault.Kind{
		fault.Policy: fault.Policy, fault.Input: fault.Input, fault.Connection: fault.Connection, fault.Consent: fault.Connection,
		fault.Drift: fault.Platform, fault.Ledger: fault.Platform, fault.Platform: fault.Platform, fault.Timeout: fault.Platform,
	} {
		t.Run(string(kind), func(t *testing.T) {
			r := newRig(t, script("a"))
			r.vm.create = func(context.Context, sandbox.Spec) error { return fault.New(kind, "cannot") }
			out := r.finished(t)
			require.Equal(t, want, out.Failure.Kind)
			require.Equal(t, kind == fault.Drift, out.Failure.Drift)
			require.ErrorContains(t, out.Failure.Err, "the VM could not be started: cannot")
			require.Equal(t, string(want), r.one(t, "step.finished").String("failure_kind"))
		})
	}
}

// A panic in a step is that step's failure: its siblings, the VM and the record go on.
func TestPanicIsContained(t *testing.T) {
	r := newRig(t, script("bad"), script("beside"))
	panicked := make(chan struct{})
	r.on("bad", func(*scene) (sandbox.Result, error) {
		defer close(panicked)
		var none map[string]int
		none["x"] = 1 //nolint:staticcheck // the panic is wanted
		return sandbox.Result{}, nil
	})
	r.on("beside", func(s *scene) (sandbox.Result, error) {
		<-panicked
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.run(t, t.Context())
	require.Equal(t, fault.Platform, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, "assignment to entry in nil map")
	require.Equal(t, Succeeded, out.step("beside").Status)
	require.EqualValues(t, 1, r.vm.destroys.Load())
	require.Len(t, r.report.Unknown, 1, "nobody knows how the command ended")
	require.Equal(t, "command.started", r.report.Unknown[0].Type)
	require.Equal(t, 2, r.count("token.revoked"))
	require.True(t, r.vm.scene("bad").closed)
}
