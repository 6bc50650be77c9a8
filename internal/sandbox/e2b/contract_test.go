//go:build linux

package e2b

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// TestContract holds the provider to what every provider must do, but for the limits: a machine made of namespaces has no
// cgroup controllers, and what nothing bounds would take this machine's memory.
func TestContract(t *testing.T) {
	r := newRig(t, e2btest.Options{})
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = r.spec().Image
		return r.Create(ctx, want)
	}, "limits")
}

// TestContractVM is the same in a VM, where cgroups have their controllers and the disk its quotas, so with the limits.
// What does not depend on those is left to the soak.
func TestContractVM(t *testing.T) {
	without := []string{
		"files", "layers", "output", "input", "ending", "kill", "surroundings", "confinement", "isolation", "door", "collect", "worlds", "sandbox",
	}
	if os.Getenv("JOY_SOAK") != "" {
		without = nil
	}
	r := newRig(t, e2btest.Options{Runner: e2btest.MicroVM{Memory: sandboxtest.Memory, Disk: sandboxtest.Disk + imageSize}})
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = r.spec().Image
		return r.Create(ctx, want)
	}, without...)
}

// imageSize is what the image needs of the disk, which it shares with the steps there.
const imageSize = 32 << 20

// TestLargerTemplate: of a VM that is larger than the plan's, steps have the plan's.
func TestLargerTemplate(t *testing.T) {
	r := newRig(t, e2btest.Options{Runner: e2btest.MicroVM{}})
	spec := r.spec()
	spec.Memory = 128 << 20
	sb := r.create(t, spec)
	require.Empty(t, sb.Info().Reduced)
	said := inVM(t, sb.(*box), `cat /sys/fs/cgroup/steps/memory.max /sys/fs/cgroup/steps/cpu.max`)
	require.Equal(t, "67108864\n100000 100000\n", said)

	w := openWorld(t, sb, "hog")
	res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"dd", "if=/dev/zero", "of=/dev/null", "bs=80M", "count=1"}}, io.Discard, io.Discard)
	require.NoError(t, err)
	require.Equal(t, "oom", res.Reason, "%+v", res)

	// The disk, too: each has three quarters of it, and all together have no more than the plan's.
	fill := func(w sandbox.World, mib string) sandbox.Result {
		res, err := w.Run(t.Context(), sandbox.Command{Argv: []string{"dd", "if=/dev/zero", "of=/workspace/f", "bs=1M", "count=" + mib}}, io.Discard, io.Discard)
		require.NoError(t, err)
		return res
	}
	require.Equal(t, "disk", fill(w, "60").Reason, "more than its share of 64 MiB")
	require.Zero(t, fill(w, "40").ExitCode)
	other := openWorld(t, sb, "other")
	require.Equal(t, "disk", fill(other, "40").Reason, "it is within its share, and what is left is less")
	require.Zero(t, fill(other, "16").ExitCode)
}
