package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/sandbox"
)

func TestBootFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		create func(ctx context.Context, spec sandbox.Spec) error
		own    error
		alive  string // what is reported as perhaps alive
		want   string
	}{
		"before there is anything": {
			create: func(context.Context, sandbox.Spec) error { return errors.New("no such image") },
			want:   "no such image",
		},
		"after it was started": {
			create: func(_ context.Context, spec sandbox.Spec) error {
				return errors.Join(errors.New("it does not answer"), spec.Started("vm-1"))
			},
			want: "it does not answer",
		},
		"and it may be alive": {
			create: func(_ context.Context, spec sandbox.Spec) error {
				return errors.Join(fmt.Errorf("%w: it does not die", sandbox.ErrAlive), spec.Started("vm-1"))
			},
			alive: "vm-1", want: "does not die",
		},
		"nobody would own it": {own: errors.New("index is full"), want: "index is full"},
		"a panic": {
			create: func(_ context.Context, spec sandbox.Spec) error {
				_ = spec.Started("vm-1")
				return map[string]error{}["x"].(interface{ Unwrap() error }).Unwrap()
			},
			alive: "vm-1", want: "joy itself failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"), script("b"))
			r.vm.create = tc.create
			var owned, gone []string
			r.OwnVM = func(id string) error { owned = append(owned, id); return tc.own }
			r.VMGone = func(id string) error { gone = append(gone, id); return errors.New("does not matter") }
			out := r.finished(t)
			require.Equal(t, Failed, out.Status)
			require.Equal(t, fault.Platform, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, tc.want)
			require.Equal(t, tc.alive, out.VM)
			require.Equal(t, tc.alive != "", len(gone) == 0, "only a VM that is gone is said to be")
			destroyed := r.one(t, "sandbox.destroyed")
			require.Equal(t, false, destroyed.Data["booted"])
			require.Equal(t, tc.alive == "", destroyed.Data["verified"])
			require.Zero(t, r.count("sandbox.created")+r.count("command.started"))
			require.EqualValues(t, 1, r.vm.creates.Load(), "a boot is not tried again")
		})
	}
}

func TestDestroyFails(t *testing.T) {
	r := newRig(t, script("a"))
	r.vm.destroy = func(int32) error { return fmt.Errorf("process 7 does not die: %w", sandbox.ErrAlive) }
	r.VMGone = func(string) error { t.Error("it is not gone"); return nil }
	out := r.finished(t)
	require.Equal(t, "vm-1", out.VM)
	require.Equal(t, Succeeded, out.step("a").Status)
	require.Equal(t, Failed, out.Status, "a VM that may be alive is no success")
	require.Equal(t, fault.Platform, out.Failure.Kind)
	destroyed := r.one(t, "sandbox.destroyed")
	require.Equal(t, false, destroyed.Data["verified"])
	require.Contains(t, destroyed.String("error"), "does not die")
	require.Equal(t, "failed", r.one(t, "run.finished").String("outcome"))
}

// A VM that vanishes is the platform's failure, on record as such; what ran in it has an unknown outcome and is not
// run again.
func TestLostVM(t *testing.T) {
	r := newRig(t, script("a"), script("b"), script("c", "a"))
	both := make(chan struct{})
	r.on("a", func(s *scene) (sandbox.Result, error) {
		<-both
		s.print("half a line")
		s.keep("never.txt", "collected")
		r.vm.lose()
		return sandbox.Result{}, fmt.Errorf("reading: %w", sandbox.ErrLost)
	})
	r.on("b", func(s *scene) (sandbox.Result, error) {
		close(both)
		<-s.vm.Lost()
		return sandbox.Result{}, sandbox.ErrLost
	})
	out := r.run(t, t.Context())
	require.Equal(t, Failed, out.Status)
	require.Equal(t, fault.Platform, out.Failure.Kind)
	require.ErrorIs(t, out.Failure.Err, sandbox.ErrLost)
	require.Equal(t, 1, r.count("sandbox.lost"))
	require.Equal(t, 1, r.count("sandbox.destroyed"))
	require.EqualValues(t, 1, r.vm.destroys.Load())
	require.EqualValues(t, 1, r.vm.creates.Load())
	require.Equal(t, 2, r.count("command.started"))
	require.Zero(t, r.count("command.finished")+r.count("artifact.stored"))
	require.Len(t, r.report.Unknown, 2)
	story := r.story()
	require.Less(t, index(story, "sandbox.lost"), index(story, "step.finished "+out.Failure.Step))
	b, err := os.ReadFile(filepath.Join(r.LogDir, "a.1.stdout"))
	require.NoError(t, err)
	require.Equal(t, "half a line", string(b), "what it had printed is kept")
}

// The loss of an idle VM is recorded too, by itself.
func TestLostBetweenCommands(t *testing.T) {
	r := newRig(t, script("a"))
	r.Call = echo
	r.on("a", func(s *scene) (sandbox.Result, error) {
		r.vm.lose()
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, fault.Platform, out.Failure.Kind)
	require.Equal(t, 1, r.count("sandbox.lost"))
}

func index(list []string, what string) int {
	for i, s := range list {
		if s == what {
			return i
		}
	}
	return -1
}

// A VM whose creation cannot be recorded is destroyed at once.
func TestCreatedButNotRecorded(t *testing.T) {
	r := newRig(t, script("a"))
	r.OwnVM = func(string) error { return r.Ledger.Close() }
	out := r.run(t, t.Context())
	require.ErrorIs(t, out.RecordErr, ledger.ErrClosed)
	require.EqualValues(t, 1, r.vm.destroys.Load())
	require.Empty(t, out.VM)
	require.Equal(t, []string{"run.started", "step.started a", "sandbox.requested a"}, r.story())
}
