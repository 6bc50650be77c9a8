package sandboxtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/joystream-ai/joy/internal/sandbox"
)

func testWorlds(t *testing.T, r *room) {
	t.Run("a name is taken until it is closed", func(t *testing.T) {
		w := r.world(t, sandbox.WorldSpec{ID: "render"})
		w.sh(t, `echo x >/workspace/left; echo x >/etc/left`)
		_, err := r.sandbox.Open(t.Context(), sandbox.WorldSpec{ID: "render"})
		require.ErrorContains(t, err, "exists")
		require.NoError(t, w.Close(t.Context()))
		again := r.world(t, sandbox.WorldSpec{ID: "render"})
		again.fails(t, `ls /workspace/left || ls /etc/left`)
	})

	for name, spec := range map[string]sandbox.WorldSpec{
		"no name":            {},
		"a path":             {ID: "../x"},
		"a slash":            {ID: "a/b"},
		"upper case":         {ID: "A"},
		"a long name":        {ID: fmt.Sprintf("%065d", 1)},
		"read-only outside":  {ID: "x", ReadOnly: []string{"../etc"}},
		"read-only absolute": {ID: "x", ReadOnly: []string{"/etc"}},
		"env not UTF-8":      {ID: "x", Env: map[string]string{"A": "\xff"}},
		"env past a message": {ID: "x", Env: map[string]string{"A": string(make([]byte, 2<<20))}},
		"unknown layer":      {ID: "x", Layers: []string{"no-such-layer"}},
		"layer elsewhere":    {ID: "x", Layers: []string{"../worlds"}},
	} {
		t.Run("refused: "+name, func(t *testing.T) {
			_, err := r.sandbox.Open(t.Context(), spec)
			require.Error(t, err)
			require.NotErrorIs(t, err, sandbox.ErrLost)
		})
	}
	t.Run("a refused name is free", func(t *testing.T) {
		require.Eventually(t, func() bool {
			w, err := r.sandbox.Open(t.Context(), sandbox.WorldSpec{ID: "x"})
			return err == nil && w.Close(t.Context()) == nil
		}, inTime, 50*time.Millisecond)
	})

	t.Run("given up while it is made", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		w, err := r.sandbox.Open(ctx, sandbox.WorldSpec{ID: "hasty"})
		if err == nil {
			require.NoError(t, w.Close(t.Context()))
		}
		require.Eventually(t, func() bool {
			w, err := r.sandbox.Open(t.Context(), sandbox.WorldSpec{ID: "hasty"})
			return err == nil && w.Close(t.Context()) == nil
		}, inTime, 50*time.Millisecond)
	})

	t.Run("six at once", func(t *testing.T) {
		var g errgroup.Group
		for i := range 6 {
			w := r.world(t, sandboxWorld)
			g.Go(func() error {
				var out watch
				res, err := w.Run(t.Context(), shell(fmt.Sprintf(`echo %d >/workspace/me; sleep 0.2; cat /workspace/me`, i)), &out, &out)
				if err != nil || res.ExitCode != 0 || out.buf.String() != fmt.Sprintf("%d\n", i) {
					return fmt.Errorf("world %d: %v, %+v, %q", i, err, res, out.buf.String())
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
	})

	t.Run("twenty commands at once in one", func(t *testing.T) {
		w := r.world(t, sandboxWorld)
		var g errgroup.Group
		for i := range 20 {
			g.Go(func() error {
				var out watch
				res, err := w.Run(t.Context(), shell(fmt.Sprintf(`echo %d; exit %d`, i, i)), &out, &out)
				if err != nil || res.ExitCode != i || out.buf.String() != fmt.Sprintf("%d\n", i) {
					return fmt.Errorf("command %d: %v, %+v, %q", i, err, res, out.buf.String())
				}
				return nil
			})
		}
		require.NoError(t, g.Wait())
	})
}
