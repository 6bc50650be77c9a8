//go:build linux

package kata

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// TestContract holds the provider to what every provider must do. Where the container's cgroups are of version 1 joy-guest
// has no controllers for its steps, and says so: what they alone would bound is left out then. With a shared kernel the
// guest sets none of its limits, by one of which there are no user namespaces in a VM.
func TestContract(t *testing.T) {
	r := newRig(t)
	var without []string
	if os.Getenv(katatest.EnvKata) == "" {
		without = append(without, "clone user")
	}
	if !r.controllers(t) {
		without = append(without, "limits")
	}
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = r.image
		return r.Create(ctx, want)
	}, without...)
}

// controllers says whether the guest can bound its steps, by what it said itself, which is what the ledger gets.
func (r *rig) controllers(t *testing.T) bool {
	b := r.create(t, r.spec())
	require.NoError(t, b.Destroy(t.Context()))
	return !strings.Contains(b.Info().Reduced, "no cgroup controllers")
}
