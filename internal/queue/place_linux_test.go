package queue

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestRefused(t *testing.T) {
	t.Run("a linked directory", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "queue")
		require.NoError(t, os.Symlink(t.TempDir(), dir))
		_, err := (&Queue{Dir: dir, Measure: fixed(room(9000, 9000))}).Enter(t.Context(), "a", Need{}, nil)
		require.ErrorContains(t, err, "link")
	})
	t.Run("the same run twice", func(t *testing.T) {
		q := &Queue{Dir: t.TempDir(), Measure: fixed(room(9000, 9000))}
		leave, err := q.Enter(t.Context(), "a", Need{}, nil)
		require.NoError(t, err)
		_, err = q.Enter(t.Context(), "a", Need{}, nil)
		require.ErrorIs(t, err, os.ErrExist)
		leave()
	})
	t.Run("a place that nobody can read", func(t *testing.T) {
		q := &Queue{Dir: t.TempDir(), Measure: fixed(room(9000, 9000))}
		f, err := os.Create(filepath.Join(q.Dir, "x.vm"))
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		_, err = q.Enter(t.Context(), "a", Need{}, nil)
		require.ErrorContains(t, err, "not a place that this version of joy wrote")
		require.NoError(t, f.Close())
		leave, err := q.Enter(t.Context(), "a", Need{}, nil)
		require.NoError(t, err, "one that nobody holds is nothing")
		leave()
		require.NoFileExists(t, filepath.Join(q.Dir, "x.vm"))
	})
}

func TestTheWaitEndsWithItsContext(t *testing.T) {
	q := &Queue{Dir: t.TempDir(), MaxVMs: 1, Measure: fixed(room(9000, 9000))}
	leave, err := q.Enter(t.Context(), "a", Need{}, nil)
	require.NoError(t, err)
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	_, err = q.Enter(ctx, "b", Need{}, func(string) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(q.Dir, "b.vm"))
}

// What a VM uses is no longer free, and must not be held for it a second time.
func TestRest(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "scratch")
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, os.Remove(f.Name()))
	_, err = io.CopyN(f, rand.Reader, 3*mib) // no file system keeps it in less
	require.NoError(t, err)
	require.NoError(t, f.Sync())
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.ExtraFiles = []*os.File{f, f}
	require.NoError(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	require.Contains(t, descendants(os.Getpid(), 0), cmd.Process.Pid)
	require.EqualValues(t, 3*mib, unnamed(cmd.Process.Pid)/mib*mib)
	require.Positive(t, anonymous(cmd.Process.Pid))

	gone := ticket{Need: Need{512 * mib, 512 * mib}}
	require.Equal(t, Need{640 * mib, 512 * mib}, gone.rest(), "what cannot be seen counts as unused")
}

// A place is given back without the lock, and so at any moment of another's look at it.
func TestGivenBackDuringALook(t *testing.T) {
	q := &Queue{Dir: t.TempDir()}
	for range 1000 {
		p := &place{queue: q, ticket: ticket{Run: "a"}}
		require.NoError(t, p.take())
		left := make(chan error, 1)
		go func() { left <- p.leave() }()
		for len(left) == 0 {
			_, err := q.others("b")
			require.NoError(t, err)
		}
		require.NoError(t, <-left)
	}
}
