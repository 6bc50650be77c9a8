//go:build linux

package microvm

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// TestContract holds the provider to what every provider must do.
func TestContract(t *testing.T) {
	p, spec := testProvider(t)
	sandboxtest.Run(t, func(ctx context.Context, want sandbox.Spec) (sandbox.Sandbox, error) {
		want.Image = spec.Image
		return p.Create(ctx, want)
	})
}

// testProvider makes VMs of the tiny image and of joy-guest as its source is now.
func testProvider(t *testing.T) (*Provider, sandbox.Spec) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a VM")
	}
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	img, err := image.Latest(cache, "tiny")
	require.NoError(t, err, "run script/test once: it builds the image")
	guest := sandboxtest.Guest(t)
	p := &Provider{CacheDir: cache, Accel: os.Getenv("JOY_ACCEL"), Guest: guest, Scratch: t.TempDir()}
	return p, sandbox.Spec{
		Run: "test", Image: img.Digest(), Isolation: "any", Start: "any", CPUs: 2,
		Memory: sandboxtest.Memory, Disk: sandboxtest.Disk,
	}
}
