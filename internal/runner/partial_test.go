package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// A collection that does not reach its end changes nothing of what the command did. Who needs its files is told.
func TestCollectionCutShort(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		exit int
		want string
	}{
		"a step that went well": {errors.New("the guest says no"), 0, "the collection ended early: the guest says no"},
		"a step that failed":    {errors.New("the guest says no"), 9, "the collection ended early: the guest says no"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, script("a"))
			r.on("a", func(s *scene) (sandbox.Result, error) {
				s.keep("some.txt", "some")
				s.print("{}")
				return sandbox.Result{ExitCode: tc.exit}, nil
			})
			r.vm.collect = func(context.Context, *scene) ([]sandbox.Skip, error) { return nil, tc.err }
			out := r.finished(t)
			require.Equal(t, tc.exit == 0, out.Status == Succeeded)
			require.Equal(t, 1, r.count("artifact.stored"))
			require.Equal(t, tc.want, r.one(t, "artifact.skipped").String("reason"))
			require.Equal(t, tc.want, out.Steps[0].Partial)
			require.EqualValues(t, 1, out.Steps[0].LeftOut)
		})
	}
	needs := func(with string) *rig {
		b := script("b", "a")
		b.With = json.RawMessage(with)
		r := newRig(t, script("a"), b)
		r.leaves("a", outFile{name: "some.txt", body: "some"})
		r.prints("b", "{}")
		r.vm.collect = func(_ context.Context, s *scene) ([]sandbox.Skip, error) {
			if s.spec.ID == "a" {
				return nil, errors.New("the guest says no")
			}
			return nil, nil
		}
		return r
	}
	for name, with := range map[string]string{
		"a step that is given the files": `{}`,
		"one that refers to one":         `{"f": "${{ steps.a.artifacts['some.txt'] }}"}`,
		"one that refers to another":     `{"f": "${{ steps.a.artifacts['more.txt'] }}"}`,
	} {
		t.Run(name, func(t *testing.T) {
			r := needs(with)
			out := r.finished(t)
			require.Equal(t, Succeeded, out.step("a").Status)
			require.Equal(t, Failed, out.step("b").Status)
			require.Equal(t, fault.Platform, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, "the collection ended early: the guest says no")
			require.Zero(t, len(r.all("command.started"))-1, "b never began")
		})
	}
}

// A collection has a time of its own: a step that is over its limit keeps what it has made, and one that takes too long to be
// collected has done what it did.
func TestCollectionHasItsOwnTime(t *testing.T) {
	for name, work := range map[string]func(*scene) (sandbox.Result, error){
		"a step that went well":       func(s *scene) (sandbox.Result, error) { s.print("{}"); return sandbox.Result{}, nil },
		"a step that is over its own": hang,
	} {
		t.Run(name, func(t *testing.T) {
			step := script("a")
			step.Timeout = policy.Duration(100 * time.Millisecond)
			r := newRig(t, step)
			r.on("a", work)
			r.vm.collect = func(ctx context.Context, _ *scene) ([]sandbox.Skip, error) {
				ends, limited := ctx.Deadline()
				require.True(t, limited)
				require.InDelta(t, collectLimit.Seconds(), time.Until(ends).Seconds(), 60)
				require.NoError(t, ctx.Err())
				return nil, context.DeadlineExceeded
			}
			out := r.finished(t)
			_, over := r.one(t, "step.finished").Data["timeout"]
			require.Equal(t, out.Status != Succeeded, over)
			require.Contains(t, out.Steps[0].Partial, "the collection ended early: ")
		})
	}
	require.Equal(t, "the collection ended early: it took longer than 2m0s", early(late(t), errors.New("closed")))
}

// late is a context whose time is over.
func late(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	t.Cleanup(cancel)
	return ctx
}

// A file that was quarantined is no file for those that follow, and that is the policy's doing.
func TestReferenceToAQuarantinedFile(t *testing.T) {
	b := script("b", "a")
	b.With = json.RawMessage(`{"f": "${{ steps.a.artifacts['e.bin'] }}"}`)
	r := newRig(t, script("a"), b)
	r.on("a", func(s *scene) (sandbox.Result, error) {
		s.keep("e.bin", "\x00"+s.token())
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.finished(t)
	require.Equal(t, fault.Policy, out.Failure.Kind)
	require.ErrorContains(t, out.Failure.Err, `"e.bin" of step a was quarantined`)
}

// A hundred thousand entries are not a hundred thousand lines.
func TestSkipsAreCounted(t *testing.T) {
	r := newRig(t, script("a"))
	var files []outFile
	for i := range 30 {
		files = append(files, outFile{name: fmt.Sprintf("a\nb%d", i), body: "odd"})
	}
	r.leaves("a", files...)
	r.vm.collect = func(context.Context, *scene) ([]sandbox.Skip, error) {
		var list []sandbox.Skip
		for i := range 25 {
			list = append(list, sandbox.Skip{Path: strconv.Itoa(i), Reason: "count"})
		}
		list = append(list, sandbox.Skip{Reason: "count", Count: 99_800},
			sandbox.Skip{Reason: "fifo", Count: 1 << 62}, sandbox.Skip{Reason: "link", Count: 1 << 62})
		return list, nil
	}
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	require.GreaterOrEqual(t, out.Steps[0].LeftOut, int64(ledger.MaxInt), "the VM's own word")
	list := r.all("artifact.skipped")
	require.Len(t, list, 20+20+4)
	counts := map[string]any{}
	for _, e := range list[40:] {
		require.NotContains(t, e.Data, "name")
		counts[e.String("reason")] = e.Data["count"]
	}
	require.Equal(t, int64(10), counts["name"])
	require.Equal(t, int64(99_805), counts["count"])
}
