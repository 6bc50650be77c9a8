//go:build linux

package e2b

import (
	"context"
	"testing"

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
