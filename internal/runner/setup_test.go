package runner

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/sim"
)

const setupFile = "#!/bin/sh\ntrue\n"

// newSetupRig is a plan with a setup script in front of its steps.
func newSetupRig(t testing.TB, steps ...plan.Step) *rig {
	r := newRig(t, steps...)
	pin := plan.File{Path: "scripts/setup.sh", Mode: "0755", Size: int64(len(setupFile)), SHA256: strings.Repeat("5", 64)}
	r.Plan.Setup = &plan.Setup{Run: pin, Argv: []string{"/bin/sh"}, Timeout: policy.Duration(time.Minute)}
	bundle := r.Bundle
	r.Bundle = func(skill string, f plan.File) (io.ReadCloser, error) {
		if skill == "" && f == pin {
			return io.NopCloser(strings.NewReader(setupFile)), nil
		}
		return bundle(skill, f)
	}
	return r
}

func TestSetupFails(t *testing.T) {
	for name, tc := range map[string]struct {
		set   func(r *rig)
		kind  fault.Kind
		limit bool
		want  string
	}{
		"it exits with a status": {func(r *rig) {
			r.on("setup", func(*scene) (sandbox.Result, error) { return sandbox.Result{ExitCode: 3}, nil })
		}, fault.Agent, false, "exited with status 3"},
		"it runs out of memory": {func(r *rig) {
			r.on("setup", func(*scene) (sandbox.Result, error) { return sandbox.Result{ExitCode: 137, Reason: "oom"}, nil })
		}, fault.Agent, false, "ran out of memory"},
		"it takes too long": {func(r *rig) {
			r.Plan.Setup.Timeout = policy.Duration(30 * time.Millisecond)
			r.on("setup", hang)
		}, fault.Agent, true, "the step took longer than 30ms"},
		"its interpreter is not there": {func(r *rig) {
			r.on("setup", func(*scene) (sandbox.Result, error) { return sandbox.Result{}, refused("no such file") })
		}, fault.Agent, false, "could not be run"},
		"the VM goes away": {func(r *rig) {
			r.on("setup", func(*scene) (sandbox.Result, error) { r.vm.lose(); return sandbox.Result{}, lastWords("panic") })
		}, fault.Platform, false, "panic"},
		"its script is not there": {func(r *rig) {
			r.Bundle = func(string, plan.File) (io.ReadCloser, error) { return nil, errors.New("no such object") }
		}, fault.Platform, false, "no such object"},
		"its layer is not kept": {
			func(r *rig) { r.vm.close = func(string) error { return errors.New("no space left") } },
			fault.Platform, false, "keeping what setup wrote: no space left",
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := newSetupRig(t, script("a"), script("b", "a"))
			tc.set(r)
			out := r.run(t, t.Context())
			require.Equal(t, Failed, out.Status)
			require.Equal(t, "setup", out.Failure.Step)
			require.Equal(t, tc.kind, out.Failure.Kind)
			require.Equal(t, tc.limit, out.Failure.Timeout)
			require.ErrorContains(t, out.Failure.Err, tc.want)
			require.Equal(t, 2, r.count("step.skipped"))
			for _, e := range r.all("step.skipped") {
				require.Equal(t, "it needs setup, which failed", e.String("reason"))
			}
			require.Equal(t, "setup", r.one(t, "step.started").Step, "no other step begins")
			require.True(t, r.vm.scene("setup").closed)
			require.EqualValues(t, 1, r.vm.destroys.Load())
		})
	}
}

func TestSetupIsBeforeEveryStepInTheVM(t *testing.T) {
	r := newSetupRig(t, script("a"), script("b"), script("c", "a"))
	r.Input = json.RawMessage(`{"secret":"of the run"}`)
	r.on("setup", func(s *scene) (sandbox.Result, error) {
		require.Contains(t, s.scope(s.token()), `"step":"setup"`)
		s.keep("left.txt", "left")
		s.print("no JSON at all\n")
		return sandbox.Result{}, nil
	})
	r.on("a", func(s *scene) (sandbox.Result, error) {
		require.True(t, r.vm.scene("setup").closed, "its processes have ended")
		require.Contains(t, s.scope(r.vm.scene("setup").token()), "unauthorized", "its token opens nothing any more")
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	require.Equal(t, []string{
		"run.started", "step.started setup", "sandbox.requested setup", "sandbox.created setup", "token.issued setup",
		"command.started setup", "command.finished setup", "token.revoked setup", "step.finished setup",
	}, r.story()[:9])
	require.Equal(t, map[string]any{"succeeded": int64(4), "failed": int64(0), "skipped": int64(0)}, r.one(t, "run.finished").Data["steps"])

	s := r.vm.scene("setup")
	require.Equal(t, []string{"/bin/sh", "/workspace/setup/setup.sh"}, s.argv)
	require.Equal(t, map[string]string{"setup/setup.sh": setupFile}, s.files, "it has no input, no bundle and no artifacts")
	require.Equal(t, []string{"setup"}, s.spec.ReadOnly)
	require.Equal(t, "setup", s.spec.Keep)
	require.Empty(t, s.spec.Layers)
	require.NotContains(t, s.spec.Env, "JOY_INPUT")
	require.Zero(t, r.count("artifact.stored"), "its out/ is not collected")
	started := r.all("command.started")[0]
	require.Equal(t, "/bin/sh /workspace/setup/setup.sh", started.String("command"))
	require.NotContains(t, started.Data, "input")
	first := r.all("step.started")[0].Data
	require.Equal(t, "setup", first["kind"])
	require.Equal(t, map[string]any{"path": "scripts/setup.sh", "bytes": int64(len(setupFile)), "sha256": "sha256:" + strings.Repeat("5", 64)}, first["script"])

	for _, id := range []string{"a", "b", "c"} {
		require.Equal(t, []string{"setup"}, r.vm.scene(id).spec.Layers, id)
		require.Empty(t, r.vm.scene(id).spec.Keep)
	}
	require.Equal(t, "no JSON at all", string(out.step("setup").Tail))
	require.Nil(t, out.step("setup").Output)
}

// What only waits for a step that fails makes nobody boot a VM.
func TestSetupIsLazy(t *testing.T) {
	fetch := plan.Step{ID: "fetch", Kind: plan.Action, Action: "sales.list", With: json.RawMessage(`{}`), Timeout: script("x").Timeout}
	t.Run("a step before it fails", func(t *testing.T) {
		r := newSetupRig(t, fetch, script("render", "fetch"))
		out := r.finished(t) // there is no worker for actions
		require.Equal(t, "fetch", out.Failure.Step)
		require.Equal(t, Skipped, out.step("setup").Status)
		require.Equal(t, "after the failure of fetch", out.step("setup").Why)
		require.Zero(t, r.vm.creates.Load())
	})
	t.Run("a step before it succeeds", func(t *testing.T) {
		r := newSetupRig(t, fetch, script("render", "fetch"))
		r.Call = echo
		require.Equal(t, Succeeded, r.finished(t).Status)
		require.Equal(t, []string{"run.started", "step.started fetch", "step.finished fetch", "step.started setup"}, r.story()[:4])
	})
	t.Run("no step is in the VM", func(t *testing.T) {
		r := newSetupRig(t, fetch)
		r.Call = echo
		out := r.finished(t)
		require.Equal(t, Succeeded, out.Status)
		require.Equal(t, "no step needs the VM", out.step("setup").Why)
		require.Zero(t, r.vm.creates.Load())
	})
}

func TestSetupInADryRun(t *testing.T) {
	r := newSetupRig(t, script("a"))
	provider := &sim.Provider{}
	r.Provider, r.Objects, r.LogDir = provider, nil, ""
	require.Equal(t, Succeeded, Run(t.Context(), r.dry()).Status)
	require.Equal(t, "setup", provider.Booted())
	g, ok := provider.Given("setup")
	require.True(t, ok)
	require.Equal(t, []string{"/bin/sh", "/workspace/setup/setup.sh"}, g.Argv)
	require.Equal(t, []string{"setup/setup.sh"}, g.Files)
}
