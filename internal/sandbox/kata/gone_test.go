//go:build linux

package kata

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// unopened are the guest's streams, of which joy has opened none when it is killed.
type unopened struct{ dir string }

func (u unopened) Config() cio.Config {
	return cio.Config{Stdin: filepath.Join(u.dir, streams[0]), Stdout: filepath.Join(u.dir, streams[1]), Stderr: filepath.Join(u.dir, streams[2])}
}
func (u unopened) Cancel()      {}
func (u unopened) Wait()        {}
func (u unopened) Close() error { return nil }

// A shim that waits for a joy that is gone answers no question about its container, and is ended for all that.
func TestShimThatWaitsForAJoyThatIsGone(t *testing.T) {
	if os.Getenv(katatest.EnvKata) != "" {
		t.Skip("Kata's shim does not wait")
	}
	r := newRig(t)
	client, err := dial(r.address())
	require.NoError(t, err)
	defer client.Close()
	b := &box{provider: r.Provider, client: client, class: classNone, spec: r.spec()}
	b.container, err = newContainer(b.spec.Run)
	require.NoError(t, err)
	dir := r.dir(b.container)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, name := range streams {
		require.NoError(t, unix.Mkfifo(filepath.Join(dir, name), 0o600))
	}
	guest := filepath.Join(dir, "joy-guest")
	require.NoError(t, os.WriteFile(guest, r.Guest, 0o755))
	img, err := client.findImage(t.Context(), r.image)
	require.NoError(t, err)
	made, err := b.newContainer(t.Context(), img, guest, 0)
	require.NoError(t, err)

	ctx, killed := context.WithCancel(within(t.Context()))
	asked := make(chan error, 1)
	go func() {
		_, err := made.NewTask(ctx, func(string) (cio.IO, error) { return unopened{dir}, nil })
		asked <- err
	}()
	require.Eventually(t, func() bool { return waits(b.container) }, sandboxtest.Patience, 10*time.Millisecond)
	begun := time.Now()
	require.NoError(t, r.Reap(t.Context(), indexID(b.container, r.address())))
	require.Less(t, time.Since(begun), endLimit/2)
	killed()
	await(t, "the request", asked)
	r.nothingLeft(t)
}

// waits says whether a thread of the container's shim waits for the other end of a named pipe, by the name of the kernel's
// function that it is in (proc_pid_wchan(5)).
func waits(container string) bool {
	pid, _ := processOf(container)
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, path := range all {
		if in, _ := os.ReadFile(path); string(in) == "wait_for_partner" {
			return true
		}
	}
	return false
}

// What a joy that died had begun and not made a container is containerd's to collect: when its lease has ended, and not before.
func TestWhatADeadJoyHadBegunIsCollected(t *testing.T) {
	r := newRig(t)
	client, err := dial(r.address())
	require.NoError(t, err)
	defer client.Close()
	img, err := client.findImage(t.Context(), r.image)
	require.NoError(t, err)
	// No container may have such a name, and a lease and a snapshot may.
	begin := func(name string, lease time.Duration) *box {
		p := *r.Provider
		p.making = lease
		b := &box{provider: &p, client: client, class: classNone, spec: r.spec(), container: containerPrefix + runID + "--" + name}
		_, err := b.newContainer(t.Context(), img, "/nowhere", 0)
		require.ErrorContains(t, err, "making the container")
		return b
	}
	names := func() (all []string) {
		r.CollectGarbage(t)
		left, err := r.Orphans(t.Context(), func(string) bool { return false }) // by the labels of leases and snapshots
		require.NoError(t, err)
		for _, o := range left {
			require.Equal(t, runID, o.Run)
			all = append(all, o.ID)
		}
		return all
	}
	long := indexID(begin("long", 0).container, r.address())
	require.Equal(t, []string{long}, names())
	begin("short", time.Second)
	require.Eventually(t, func() bool { return slices.Equal([]string{long}, names()) }, sandboxtest.Patience, 100*time.Millisecond)
	require.NoError(t, r.Reap(t.Context(), long))
}
