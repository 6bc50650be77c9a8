//go:build linux

package e2b

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// Whatever goes wrong while a sandbox is made, none is left.
func TestCreateThatFails(t *testing.T) {
	r := newRig(t, e2btest.Options{Most: 2})
	ok := r.spec()
	for name, test := range map[string]struct {
		change func(*sandbox.Spec)
		fault  e2btest.Fault
		is     error
		kind   fault.Kind
		says   string
	}{
		"no pin":              {change: func(s *sandbox.Spec) { s.Image = "" }, kind: fault.Drift, says: "does not pin"},
		"half a pin":          {change: func(s *sandbox.Spec) { s.Image = "base@" }, kind: fault.Drift, says: "does not pin"},
		"another build":       {change: func(s *sandbox.Spec) { s.Image = Pin("base", "b-0") }, kind: fault.Drift, says: "the lock pins b-0"},
		"an unknown template": {change: func(s *sandbox.Spec) { s.Image = Pin("nobody/none", "b-0") }, is: client.ErrNotFound, kind: fault.Input},
		"the record fails":    {change: func(s *sandbox.Spec) { s.Started = func(string) error { return errors.New("disk full") } }, says: "disk full"},
		"the quota":           {fault: e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.TooMany(20)}, is: client.ErrQuota, kind: fault.Platform},
		"a bad key":           {fault: e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.Answer(401, "no")}, is: client.ErrKey, kind: fault.Consent},
		"it failed there":     {fault: e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.Answer(500, "no node")}, is: client.ErrUnknown, kind: fault.Platform},
		"the upload fails":    {fault: e2btest.Fault{On: e2btest.Upload, Times: 1, Do: e2btest.Answer(500, "no")}, is: client.ErrUnavailable},
		"the upload is cut":   {fault: e2btest.Fault{On: e2btest.Upload, Times: 1, Do: e2btest.Cut()}, is: client.ErrUnknown},
		"a page for a start":  {fault: e2btest.Fault{On: e2btest.ProcessStart, Times: 1, Do: e2btest.AnswerPage(200)}, is: client.ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			spec := ok
			if test.change != nil {
				test.change(&spec)
			}
			if test.fault.Do != nil {
				r.server.Fault(test.fault)
			}
			_, err := r.Create(t.Context(), spec)
			require.Error(t, err)
			require.NotErrorIs(t, err, sandbox.ErrAlive)
			if test.is != nil {
				require.ErrorIs(t, err, test.is)
			}
			if test.kind != "" {
				require.Equal(t, test.kind, fault.KindOf(err))
			}
			require.ErrorContains(t, err, test.says)
			require.Empty(t, r.server.Sandboxes())
		})
	}
}

// A template that is built anew between the look at it and the making of the sandbox is drift all the same.
func TestRebuiltMeanwhile(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	spec, asked := r.spec(), false
	spec.Started = func(string) error {
		if !asked {
			r.server.Rebuild("base")
		}
		asked = true
		return nil
	}
	_, err := r.Create(t.Context(), spec)
	require.Equal(t, fault.Drift, fault.KindOf(err), "%v", err)
	require.True(t, asked)
	require.NotErrorIs(t, err, sandbox.ErrAlive)
	require.Empty(t, r.server.Sandboxes())
}

// So is a sandbox of another template, whatever the look said.
func TestMadeOfAnotherTemplate(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	err := r.checkMade(t.Context(), r.spec(), client.Created{Template: "other"}, e2btest.TemplateID("base"))
	require.Equal(t, fault.Drift, fault.KindOf(err), "%v", err)
	require.NoError(t, r.checkMade(t.Context(), r.spec(), client.Created{Template: "base"}, e2btest.TemplateID("base")))
}

// A sandbox is on record by its nonce before it is asked for, and by its id before anything is done with it.
func TestRecordComesFirst(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	spec, seen := r.spec(), []int{}
	var ids []string
	spec.Started = func(id string) error {
		seen, ids = append(seen, len(r.server.Sandboxes())), append(ids, id)
		return nil
	}
	sb := r.create(t, spec)
	require.Equal(t, []int{0, 1}, seen)
	require.Equal(t, sb.Info().ID, ids[1])
	tags := r.server.Sandboxes()[0].Metadata
	require.Equal(t, r.nonceID(tags[tagNonce]), ids[0])
	require.Equal(t, spec.Run, tags[tagRun])
	require.NoError(t, sb.Destroy(t.Context()))
	require.Empty(t, r.server.Sandboxes())
}

// A create whose answer does not come is made out by its nonce: the sandbox is taken over, and there is only one.
func TestAnswerThatDoesNotCome(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	hits := r.server.Fault(e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.CutAnswer()})
	sb := r.create(t, r.spec())
	require.Equal(t, 1, hits())
	require.Len(t, r.server.Sandboxes(), 1)
	require.NoError(t, sb.Destroy(t.Context()))
	require.Empty(t, r.server.Sandboxes())
}

// Where nobody can tell whether a sandbox was made, that is what is said.
func TestRequestThatNobodySaw(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	r.looking = time.Second
	r.server.Fault(e2btest.Fault{On: e2btest.Create, Times: 1, Do: e2btest.Cut()})
	_, err := r.Create(t.Context(), r.spec())
	require.ErrorIs(t, err, sandbox.ErrAlive)
}

// A run that is stopped while its sandbox is being made ends the sandbox.
func TestCancelledCreate(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	spec := r.spec()
	spec.Started = func(id string) error {
		if _, sandbox, _, _ := parseID(id); sandbox != "" {
			cancel()
		}
		return nil
	}
	_, err := r.Create(ctx, spec)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, r.server.Sandboxes())

	// While the request is under way.
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	hits := r.server.Fault(e2btest.Fault{On: e2btest.Create, Times: 1, Do: func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		cancel()
		next.ServeHTTP(w, req)
	}})
	spec.Started = nil
	_, err = r.Create(ctx, spec)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, sandbox.ErrAlive)
	require.Equal(t, 1, hits())
	require.Empty(t, r.server.Sandboxes())
}
