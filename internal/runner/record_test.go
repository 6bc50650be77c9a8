package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// onDisk is the type of the last entry that is in the file now.
func (r *rig) onDisk(t testing.TB) string {
	r.read(t)
	return r.list[len(r.list)-1].Type
}

// An entry for an effect is on the disk before the effect begins.
func TestIntentBeforeEffect(t *testing.T) {
	r := newRig(t, script("a"))
	r.vm.create = func(context.Context, sandbox.Spec) error {
		require.Equal(t, "sandbox.requested", r.onDisk(t))
		return nil
	}
	r.on("a", func(s *scene) (sandbox.Result, error) {
		require.Equal(t, "command.started", r.onDisk(t))
		e := r.one(t, "command.started")
		require.Equal(t, "bash /workspace/skills/a/main.sh", e.String("command"))
		require.Equal(t, []string{"bash", "/workspace/skills/a/main.sh"}, s.argv)
		s.print("{}")
		return sandbox.Result{}, nil
	})
	require.Equal(t, Succeeded, r.finished(t).Status)
}

// When the record breaks, what runs beside is ended and nothing new starts: the rest would happen without a record.
func TestBrokenRecordEndsTheRun(t *testing.T) {
	r := newRig(t, script("a"), script("beside"), script("next", "a"))
	running := make(chan struct{})
	r.on("beside", func(s *scene) (sandbox.Result, error) {
		close(running)
		return hang(s)
	})
	r.on("a", func(s *scene) (sandbox.Result, error) {
		<-running
		require.NoError(t, r.Ledger.Close())
		s.print("{}")
		return sandbox.Result{}, nil
	})
	out := r.run(t, t.Context())
	require.ErrorIs(t, out.RecordErr, ledger.ErrClosed)
	require.Equal(t, Failed, out.Status)
	require.EqualValues(t, 1, r.vm.destroys.Load())
	require.Equal(t, Skipped, out.step("next").Status)
	require.Equal(t, verify.Incomplete, r.report.State)
	require.Len(t, r.report.Unknown, 5, "two steps, two commands, a VM")
	require.Nil(t, r.vm.scene("next"))
}

func TestNothingHappensWithoutARecord(t *testing.T) {
	r := newRig(t, script("a"))
	require.NoError(t, r.Ledger.Close())
	out := r.run(t, t.Context())
	require.ErrorIs(t, out.RecordErr, ledger.ErrClosed)
	require.Equal(t, Failed, out.Status)
	require.Empty(t, r.list)
	require.Zero(t, r.vm.creates.Load())
}

// What an entry names by digest must be in the store.
func TestOutputThatCannotBeKept(t *testing.T) {
	r := newRig(t, plan.Step{ID: "fetch", Kind: plan.Action, With: []byte(`{}`), Timeout: script("x").Timeout})
	r.Call = func(context.Context, plan.Step, any) (any, error) {
		return map[string]any{}, os.RemoveAll(filepath.Join(r.dir, "objects"))
	}
	out := r.run(t, t.Context())
	require.Error(t, out.RecordErr)
	require.Equal(t, Failed, out.Status)
	require.Equal(t, verify.Incomplete, r.report.State)
}

func TestBeginAndEndOnRecord(t *testing.T) {
	r := newRig(t, script("a"), script("b", "a"))
	r.Input = []byte(`{"week":"W48"}`)
	r.Started = ledger.Data{"trigger": "manual"}
	r.prints("a", `{"n": 1}`)
	out := r.finished(t)
	require.Equal(t, Succeeded, out.Status)
	begin := r.list[0]
	require.Equal(t, "manual", begin.String("trigger"))
	require.Equal(t, r.Plan.Digest, begin.String("plan"))
	require.Equal(t, string(r.Input), r.object(t, begin.Data["input"]))
	end := r.all("step.finished")[0]
	require.Equal(t, `{"n":1}`, r.object(t, end.Data["output"]))
	require.Equal(t, "{}", r.object(t, r.all("command.started")[0].Data["input"]))
	require.Equal(t, "succeeded", r.one(t, "run.finished").String("outcome"))
}

// object is what the store has under the digest in an entry.
func (r *rig) object(t testing.TB, named any) string {
	t.Helper()
	d, ok := named.(map[string]any)
	require.True(t, ok)
	sum, _ := d["sha256"].(string)
	hex := strings.TrimPrefix(sum, "sha256:")
	b, err := os.ReadFile(filepath.Join(r.dir, "objects", "sha256", hex[:2], hex))
	require.NoError(t, err)
	require.EqualValues(t, len(b), d["bytes"])
	return string(b)
}

// A step's token is good until the step ends, and not a moment longer.
func TestTokenEndsWithItsStep(t *testing.T) {
	r := newRig(t, script("a"), script("b", "a"))
	var first string
	r.on("a", func(s *scene) (sandbox.Result, error) {
		first = s.token()
		require.Contains(t, s.scope(first), `"step":"a"`)
		s.print("{}")
		return sandbox.Result{}, nil
	})
	r.on("b", func(s *scene) (sandbox.Result, error) {
		require.NotEqual(t, first, s.token())
		require.Contains(t, s.scope(first), "unauthorized")
		require.Contains(t, s.scope(s.token()), `"step":"b"`)
		s.print("{}")
		return sandbox.Result{}, nil
	})
	require.Equal(t, Succeeded, r.finished(t).Status)
	require.Equal(t, "unknown or revoked token", r.one(t, "egress.denied").String("reason"))
}
