//go:build linux

package microvm

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// snapshotProvider is testProvider with a cache in which no snapshot is.
func snapshotProvider(t *testing.T) (*Provider, sandbox.Spec) {
	t.Helper()
	p, spec := testProvider(t)
	dir := t.TempDir()
	require.NoError(t, os.Symlink(filepath.Join(p.CacheDir, "images"), filepath.Join(dir, "images")))
	if p.Accel != "kvm" {
		p.Accel = "tcg" // no probe for each test
	}
	p.CacheDir = dir
	return p, spec
}

// kind is the machine of spec and the place of its snapshots.
func kind(t *testing.T, p *Provider, spec sandbox.Spec) (*machine, store) {
	t.Helper()
	m, err := p.machine(spec)
	require.NoError(t, err)
	m.accel = p.Accel
	s, err := m.store()
	require.NoError(t, err)
	return m, s
}

// notRestored requires that there is no VM but a reason for a boot.
func notRestored(t *testing.T, m *machine, spec sandbox.Spec, want string) {
	t.Helper()
	v, reason, err := m.startFromSnapshot(t.Context(), spec)
	require.NoError(t, err)
	require.Nil(t, v)
	require.Contains(t, reason, want)
}

// only is the one snapshot of a cache.
func only(t *testing.T, p *Provider) Snapshot {
	t.Helper()
	all, err := Snapshots(p.CacheDir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

// shell runs a script in a world of its own and returns what it printed.
func shell(t *testing.T, sb sandbox.Sandbox, script string) string {
	t.Helper()
	w, err := sb.Open(t.Context(), sandbox.WorldSpec{ID: "shell", Env: testEnv})
	require.NoError(t, err)
	var out bytes.Buffer
	res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"sh", "-c", script}}, &out, &out)
	require.NoError(t, err)
	require.Zero(t, res.ExitCode, "%s", out.String())
	require.NoError(t, w.Close(t.Context()))
	return out.String()
}

// TestSnapshot follows one snapshot from its making to its end.
func TestSnapshot(t *testing.T) {
	p, spec := snapshotProvider(t)
	m, s := kind(t, p, spec)
	notRestored(t, m, spec, noSnapshot)

	t.Run("a making that is given up leaves nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		spec := spec
		var id string
		spec.Started = func(started string) error { id = started; cancel(); return nil }
		made, err := p.MakeSnapshot(ctx, spec)
		require.ErrorIs(t, err, context.Canceled)
		require.False(t, made)
		gone(t, p, id)
		notRestored(t, m, spec, noSnapshot)
	})

	t.Run("of two makers one makes it", func(t *testing.T) {
		left := filepath.Join(s.dir, partName)
		require.NoError(t, os.WriteFile(left, []byte("of a maker that was killed"), 0o600))
		spec := spec
		var started atomic.Int32
		spec.Started = func(string) error { started.Add(1); return nil }
		made := make([]bool, 2)
		var group sync.WaitGroup
		for i := range made {
			group.Go(func() {
				var err error
				made[i], err = p.MakeSnapshot(t.Context(), spec)
				require.NoError(t, err)
			})
		}
		group.Wait()
		require.NotEqual(t, made[0], made[1])
		require.EqualValues(t, 1, started.Load())
		require.NoFileExists(t, left)
		info, err := os.Stat(only(t, p).Path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o400), info.Mode())
		again, err := p.MakeSnapshot(t.Context(), spec)
		require.NoError(t, err)
		require.False(t, again)
	})

	t.Run("two VMs from it share nothing that is a run's own", func(t *testing.T) { testClones(t, p, spec) })

	t.Run("a plan may refuse it", func(t *testing.T) {
		spec := spec
		spec.Start = "cold"
		notRestored(t, m, spec, "policy.start")
	})
	t.Run("another machine has none", func(t *testing.T) {
		spec := spec
		spec.CPUs = 1
		m, _ := kind(t, p, spec)
		notRestored(t, m, spec, noSnapshot)
	})
	testUnfit(t, p, spec)
	t.Run("after one that was spoiled a run boots", func(t *testing.T) {
		spoil(t, only(t, p), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		sb, err := p.Create(t.Context(), spec)
		require.NoError(t, err)
		defer func() { require.NoError(t, sb.Destroy(context.Background())) }()
		require.Equal(t, "cold", sb.Info().Start)
		require.Contains(t, sb.Info().StartReason, "another digest")
		require.Equal(t, "fine\n", shell(t, sb, "echo fine"))
		notRestored(t, m, spec, noSnapshot)
	})
}

// testClones compares two VMs that run side by side.
func testClones(t *testing.T, p *Provider, spec sandbox.Spec) {
	const probe = `date +%s
cat /etc/machine-id
cat /proc/sys/kernel/random/boot_id
cat /proc/sys/kernel/random/uuid
head -c 16 /dev/urandom | od -An -tx1
grep -F '[stack]' /proc/self/maps | cut -d ' ' -f 1
hostname`
	seen := map[string]bool{}
	for range 2 {
		sb, err := p.Create(t.Context(), spec)
		require.NoError(t, err)
		defer func() { require.NoError(t, sb.Destroy(context.Background())) }()
		require.Equal(t, "snapshot", sb.Info().Start, "%s", sb.Info().StartReason)
		before := time.Now()
		said := strings.Split(strings.TrimSpace(shell(t, sb, probe)), "\n")
		after := time.Now()
		require.Len(t, said, 7)
		clock, err := strconv.ParseInt(said[0], 10, 64)
		require.NoError(t, err)
		require.GreaterOrEqual(t, clock, before.Unix()-2)
		require.LessOrEqual(t, clock, after.Unix()+2)
		for _, word := range said[1:6] {
			require.False(t, seen[word], "%s is in both", word)
			seen[word] = true
		}
		require.Equal(t, "joy", said[6])
		require.Equal(t, "1\n", shell(t, sb, "echo 1 > /workspace/f && sync && cat /workspace/f"), "the scratch disk is this VM's own")
	}
}

// spoil replaces a snapshot's bytes and keeps its name.
func spoil(t *testing.T, snap Snapshot, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(snap.Path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(snap.Path))
	require.NoError(t, os.WriteFile(snap.Path, change(b), 0o400))
}

// testUnfit: what is not the snapshot that was saved runs no instruction, and is not there afterwards.
func testUnfit(t *testing.T, p *Provider, spec sandbox.Spec) {
	m, s := kind(t, p, spec)
	snap := only(t, p)
	whole, err := os.ReadFile(snap.Path)
	require.NoError(t, err)
	restore := func() {
		_ = os.Remove(snap.Path)
		require.NoError(t, os.WriteFile(snap.Path, whole, 0o400))
	}
	same := func(b []byte) []byte { return b }
	for name, tc := range map[string]struct {
		spoil func([]byte) []byte
		then  func()
		want  string
	}{
		"empty":                {func([]byte) []byte { return nil }, nil, "another digest"},
		"cut":                  {func(b []byte) []byte { return b[:len(b)-4096] }, nil, "another digest"},
		"cut short":            {func(b []byte) []byte { return b[:1<<16] }, nil, "another digest"},
		"longer":               {func(b []byte) []byte { return append(b, 0) }, nil, "another digest"},
		"no snapshot at all":   {func([]byte) []byte { return bytes.Repeat([]byte("joy"), 1<<20) }, nil, "another digest"},
		"one bit, at the end":  {func(b []byte) []byte { b[len(b)-200_000] ^= 1; return b }, nil, "another digest"},
		"writable by everyone": {same, func() { require.NoError(t, os.Chmod(snap.Path, 0o666)) }, "other users can write"},
		"in a shared place":    {same, func() { require.NoError(t, os.Chmod(s.dir, 0o777)) }, "other users can write"},
	} {
		t.Run(name, func(t *testing.T) {
			defer restore()
			defer func() { require.NoError(t, os.Chmod(s.dir, 0o700)) }()
			spoil(t, snap, tc.spoil)
			if tc.then != nil {
				tc.then()
			}
			notRestored(t, m, spec, tc.want)
			require.NoFileExists(t, snap.Path)
			require.Empty(t, s.refused())
		})
	}
	t.Run("a link", func(t *testing.T) {
		defer restore()
		elsewhere := filepath.Join(t.TempDir(), "ram")
		require.NoError(t, os.Rename(snap.Path, elsewhere))
		require.NoError(t, os.Symlink(elsewhere, snap.Path))
		notRestored(t, m, spec, noSnapshot)
	})
	t.Run("of another machine", func(t *testing.T) {
		defer restore()
		other := spec
		other.CPUs = 1
		m, theirs := kind(t, p, other)
		foreign := filepath.Join(s.dir, theirs.image+"."+theirs.key+"."+snap.sha256+".ram")
		require.NoError(t, os.Rename(snap.Path, foreign))
		notRestored(t, m, other, "another digest")
		require.NoFileExists(t, foreign)
	})
	t.Run("saved whole, but of no use", func(t *testing.T) {
		defer restore()
		useless := bytes.Repeat([]byte{0}, 2<<20)
		h := s.newSum()
		h.Write(useless)
		path := filepath.Join(s.dir, s.image+"."+s.key+"."+hexSum(h)+".ram")
		require.NoError(t, os.Remove(snap.Path))
		require.NoError(t, os.WriteFile(path, useless, 0o400))
		notRestored(t, m, spec, "the snapshot failed")
		require.NoFileExists(t, path)
		notRestored(t, m, spec, "within the last day")
		made, err := p.MakeSnapshot(t.Context(), spec)
		require.NoError(t, err)
		require.False(t, made, "the next would fail as well")

		yesterday := time.Now().Add(-refusalAge - time.Minute)
		require.NoError(t, os.Chtimes(s.refusal(), yesterday, yesterday))
		notRestored(t, m, spec, noSnapshot)
		s.trim(1)
		require.NoFileExists(t, s.refusal())
	})
}

// TestContractRestored holds VMs that start from a snapshot to what every VM must do.
func TestContractRestored(t *testing.T) {
	if os.Getenv("JOY_SOAK") == "" {
		t.Skip("set JOY_SOAK=1: it is TestContract once more, and script/soak runs it")
	}
	p, spec := snapshotProvider(t)
	spec.Memory, spec.Disk = sandboxtest.Memory, sandboxtest.Disk
	made, err := p.MakeSnapshot(t.Context(), spec)
	require.NoError(t, err)
	require.True(t, made)
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = spec.Image
		sb, err := p.Create(ctx, want)
		if err == nil {
			require.Equal(t, "snapshot", sb.Info().Start, "%s", sb.Info().StartReason)
		}
		return sb, err
	})
}
