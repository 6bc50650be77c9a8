//go:build linux

package e2b

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// A kill that fails is repeated, and only E2B's word that nothing is there is the end.
func TestDestroyIsVerified(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sb := r.create(t, r.spec())
	hits := r.server.Fault(e2btest.Fault{On: e2btest.Kill, Times: 2, Do: e2btest.Answer(500, "no")})
	require.NoError(t, sb.Destroy(t.Context()))
	require.Equal(t, 2, hits())
	require.Empty(t, r.server.Sandboxes())
	require.NoError(t, sb.Destroy(t.Context()), "again")

	// An answer that does not come, after the kill.
	sb = r.create(t, r.spec())
	r.server.Fault(e2btest.Fault{On: e2btest.Kill, Times: 1, Do: e2btest.CutAnswer()})
	require.NoError(t, sb.Destroy(t.Context()))

	// A kill that cannot be had.
	sb = r.create(t, r.spec())
	r.server.Fault(e2btest.Fault{On: e2btest.Kill, Times: 1, Do: e2btest.Answer(401, "no")})
	require.ErrorIs(t, sb.Destroy(t.Context()), sandbox.ErrAlive)
	require.NoError(t, sb.Destroy(t.Context()), "and then it can")
}

// A sandbox that nobody extends ends by itself; a living joy keeps it.
func TestLease(t *testing.T) {
	t.Parallel() // it waits most of the time
	r := newRig(t, e2btest.Options{})
	r.lease = 9 * time.Second
	extended := r.extensions(4) // which take longer than one lease
	sb := r.create(t, r.spec())
	select {
	case <-sb.Lost():
		require.Fail(t, "lost", "%v", sb.Err())
	case <-extended:
	}
	require.Len(t, r.server.Sandboxes(), 1)
	sb.(*box).cancel(nil) // as a joy that was killed
	gone := func() bool { return len(r.server.Sandboxes()) == 0 }
	require.Eventually(t, gone, time.Minute, 100*time.Millisecond)
}

// extensions is closed when the server has been asked for so many that no other fault was meant for.
func (r *rig) extensions(n int) <-chan struct{} {
	done, asked := make(chan struct{}), atomic.Int64{}
	r.server.Fault(e2btest.Fault{On: e2btest.SetTimeout, Do: func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		next.ServeHTTP(w, req)
		if asked.Add(1) == int64(n) {
			close(done)
		}
	}})
	return done
}

// The account's own limit on a sandbox's life is told for what it is.
func TestLongestLife(t *testing.T) {
	t.Parallel()
	r := newRig(t, e2btest.Options{Longest: 15 * time.Second})
	r.lease = 6 * time.Second
	sb := r.create(t, r.spec())
	select {
	case <-sb.Lost():
	case <-time.After(time.Minute):
		require.Fail(t, "it lives")
	}
	require.ErrorIs(t, sb.Err(), sandbox.ErrLost)
	require.ErrorIs(t, sb.Err(), client.ErrLost)
}

// Only what has this user's signature is ever ended, whatever a server lists.
func TestReap(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	make := func(tags map[string]string) string {
		s, err := r.Client.Create(t.Context(), client.CreateRequest{Template: "base", Lease: time.Hour, Metadata: tags})
		require.NoError(t, err)
		return s.ID
	}
	tags := func(o Owner, run, nonce string) map[string]string {
		tags, err := o.tags(run, nonce, time.Now())
		require.NoError(t, err)
		return tags
	}
	forged := tags(owner("you"), "dead", "n4")
	forged[tagOwner] = owner("me").id()
	changed := tags(r.Owner, "dead", "n5")
	changed[tagRun] = "other"
	dead, living := make(tags(r.Owner, "dead", "n1")), make(tags(r.Owner, "living", "n2"))
	others := []string{make(tags(owner("you"), "dead", "n3")), make(forged), make(changed), make(map[string]string{"joy_owner": owner("me").id()})}
	r.server.Fault(e2btest.Fault{On: e2btest.List, Do: e2btest.IgnoreFilter()})

	orphans, err := r.Orphans(t.Context(), func(run string) bool { return run == "living" })
	require.NoError(t, err)
	require.Equal(t, []Orphan{{r.sandboxID(dead), "dead"}}, orphans)

	for _, id := range others {
		_, err := r.Reap(t.Context(), r.sandboxID(id))
		require.ErrorContains(t, err, "left alone")
	}
	for _, nonce := range []string{"n3", "n4", "n5"} {
		was, err := r.Reap(t.Context(), r.nonceID(nonce))
		require.NoError(t, err)
		require.False(t, was)
	}
	require.Len(t, r.server.Sandboxes(), 6)

	alive, err := r.Alive(t.Context(), orphans[0].ID)
	require.NoError(t, err)
	require.True(t, alive)
	was, err := r.Reap(t.Context(), orphans[0].ID)
	require.NoError(t, err)
	require.True(t, was)
	was, err = r.Reap(t.Context(), orphans[0].ID)
	require.NoError(t, err)
	require.False(t, was, "gone is gone")
	was, err = r.Reap(t.Context(), r.nonceID("n2"))
	require.NoError(t, err)
	require.True(t, was)
	_, err = r.Client.Get(t.Context(), living)
	require.ErrorIs(t, err, client.ErrNotFound)
	require.Len(t, r.server.Sandboxes(), 4)
}

func TestReapRefuses(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	for _, id := range []string{"", "qemu:1:2", "e2b://", "e2b://" + r.Client.Place(), "e2b://" + r.Client.Place() + "/sandbox/", "e2b://elsewhere/sandbox/i1", fmt.Sprintf("e2b://%s/sandbox/../x", r.Client.Place())} {
		_, err := r.Reap(context.Background(), id)
		require.Error(t, err, id)
	}
}
