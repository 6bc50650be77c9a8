//go:build linux

package microvm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestPatience: what a start may take is counted in CPU time, and in time only for one that stands still.
func TestPatience(t *testing.T) {
	forever := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, tc := range map[string]struct {
		program string
		most    patience
		part    func(context.Context) error
		want    string
	}{
		"works for too long": {"while :; do :; done", patience{cpu: time.Second, stall: time.Hour}, forever, "does not start: no answer after 1s"},
		"stands still":       {"exec sleep 1000", patience{cpu: time.Hour, stall: time.Second}, forever, "the VM stands still: nothing for 1s"},
		"ends":               {"exit 1", patience{cpu: time.Hour, stall: time.Hour}, forever, "QEMU ended"},
		"answers what is no answer": {
			"exec sleep 1000",
			patience{cpu: time.Hour, stall: time.Hour},
			func(context.Context) error { return errors.New("another protocol") }, "another protocol",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tc.program)
			require.NoError(t, cmd.Start())
			p := &process{pid: cmd.Process.Pid, exited: make(chan struct{})}
			go func() { p.status = cmd.Wait(); close(p.exited) }()
			require.ErrorContains(t, p.while(t.Context(), tc.most, tc.part), tc.want)
			_ = cmd.Process.Kill()
			<-p.exited
		})
	}
}

// TestSnapshotIsNotToBlame: a snapshot is kept, and used again, when its VM failed for a cause that was not in it.
func TestSnapshotIsNotToBlame(t *testing.T) {
	p, spec := snapshotProvider(t)
	made, err := p.MakeSnapshot(t.Context(), spec)
	require.NoError(t, err)
	require.True(t, made)
	m, s := kind(t, p, spec)
	snap := only(t, p)

	t.Run("QEMU is killed", func(t *testing.T) {
		spec := spec
		spec.Started = func(id string) error {
			pid, _, err := parseID(id)
			require.NoError(t, err)
			return unix.Kill(pid, unix.SIGKILL)
		}
		notRestored(t, m, spec, "killed from outside")
		require.FileExists(t, snap.Path)
		require.Empty(t, s.refused())
	})
	t.Run("it was cleared a moment ago", func(t *testing.T) {
		away := snap.Path + ".away"
		spec := spec
		require.NoError(t, os.Rename(snap.Path, away))
		_, err := s.open(snap)
		require.ErrorIs(t, err, os.ErrNotExist)
		notRestored(t, m, spec, noSnapshot)
		require.NoError(t, os.Rename(away, snap.Path))
		require.Empty(t, s.refused())
	})
	sb, err := p.Create(t.Context(), spec)
	require.NoError(t, err)
	defer func() { require.NoError(t, sb.Destroy(context.Background())) }()
	require.Equal(t, "snapshot", sb.Info().Start, "%s", sb.Info().StartReason)
}

// TestBootThatStandsStill: another VM takes its place.
func TestBootThatStandsStill(t *testing.T) {
	p, spec := snapshotProvider(t)
	m, err := p.machine(spec)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "joy-test-") //nolint:usetesting // QEMU is another user, and a test's own is in a closed one
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	spec.Start, p.QEMU = "cold", filepath.Join(dir, "qemu")
	require.NoError(t, os.WriteFile(p.QEMU, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o755))
	patient := bootPatience
	defer func() { bootPatience = patient }()
	bootPatience.stall = time.Second
	var ids []string
	spec.Started = func(id string) error {
		if ids = append(ids, id); len(ids) == 2 {
			bootPatience = patient
			require.False(t, Alive(ids[0]))
			return nil
		}
		pid, _, err := parseID(id)
		require.NoError(t, err)
		require.Eventually(t, func() bool { // the shell has read all of it
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			return string(name) == "sleep\n"
		}, time.Minute, time.Millisecond)
		require.NoError(t, os.Remove(p.QEMU))
		return os.Symlink(m.qemu, p.QEMU)
	}
	sb, err := p.Create(t.Context(), spec)
	require.NoError(t, err)
	defer func() { require.NoError(t, sb.Destroy(context.Background())) }()
	require.Len(t, ids, 2)
	require.Equal(t, ids[1], sb.Info().ID)
	require.Contains(t, sb.Info().StartReason, "stands still")
	require.Equal(t, "fine\n", shell(t, sb, "echo fine"))
}
