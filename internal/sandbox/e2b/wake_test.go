//go:build linux

package e2b

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// A daemon that talks on, and never of a guest, is not waited for.
func TestGuestThatNeverWakes(t *testing.T) {
	for name, fault := range map[string]e2btest.Fault{
		"a flood without end":           {On: e2btest.ProcessStart, Times: 1, Do: e2btest.Flood(1 << 40)},
		"a carrier that never answers":  {On: e2btest.ProcessStart, Skip: 1, Do: e2btest.AnswerPage(502)},
		"a carrier that is cut at once": {On: e2btest.ProcessStart, Skip: 1, Do: e2btest.CutStream(1)},
	} {
		t.Run(name, func(t *testing.T) { neverWakes(t, fault) })
	}
}

func neverWakes(t *testing.T, of e2btest.Fault) {
	t.Helper()
	r := newRig(t, e2btest.Options{})
	r.waking = 2 * time.Second
	r.server.Fault(of)
	_, err := r.Create(t.Context(), r.spec())
	require.ErrorContains(t, err, "does not answer at E2B within 2s")
	require.NotErrorIs(t, err, sandbox.ErrAlive)
	require.Equal(t, fault.Platform, fault.KindOf(err))
	require.Empty(t, r.server.Sandboxes())
}

// A lease that cannot be extended is a loss only when E2B says that the sandbox is gone, or when it is.
func TestHeartbeatRefused(t *testing.T) {
	for name, test := range map[string]struct {
		do    e2btest.Effect
		times int
		lost  bool
	}{
		"it is not running":     {e2btest.Answer(409, "Sandbox is not running"), 0, true},
		"there is none":         {e2btest.Answer(404, "Sandbox not found"), 0, true},
		"the key is refused":    {e2btest.Answer(401, "no"), 1, false},
		"the service fails":     {e2btest.Answer(500, "no"), 4, false},
		"a gateway's page":      {e2btest.AnswerPage(502), 4, false},
		"too many requests":     {e2btest.TooFast(time.Second), 2, false},
		"as many as there may":  {e2btest.TooMany(20), 1, false},
		"the connection is cut": {e2btest.Cut(), 2, false},
		"it fails for good":     {e2btest.Answer(500, "no"), 0, true},
		"it lives long enough":  {e2btest.Answer(400, "Max instance length exceeded"), 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, e2btest.Options{})
			r.lease = 12 * time.Second
			hits := r.server.Fault(e2btest.Fault{On: e2btest.SetTimeout, Times: test.times, Do: test.do})
			extended := r.extensions(4) // which take longer than one lease
			sb := r.create(t, r.spec())
			select {
			case <-sb.Lost():
				require.True(t, test.lost, "%v", sb.Err())
				require.ErrorIs(t, sb.Err(), sandbox.ErrLost)
				require.Equal(t, fault.Platform, fault.KindOf(sb.Err()))
			case <-extended:
				require.False(t, test.lost, "it was extended")
			case <-time.After(time.Minute):
				require.Fail(t, "nobody notices")
			}
			require.Positive(t, hits())
			require.NoError(t, sb.Destroy(t.Context()))
			require.Empty(t, r.server.Sandboxes())
		})
	}
}
