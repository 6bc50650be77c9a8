//go:build linux

package kata

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
	"github.com/joystream-ai/joy/internal/sandbox/sandboxtest"
)

// rig is a provider and the containerd it uses.
type rig struct {
	*Provider
	*katatest.Containerd
	image string // digest of tiny's container image
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigWith(t, "")
}

// newRigWith has a directory first in containerd's PATH.
func newRigWith(t testing.TB, programs string) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("starts containers")
	}
	name, let := katatest.Runtime()
	door = let
	c := katatest.StartWith(t, programs)
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	tiny, err := image.Latest(cache, "tiny")
	require.NoError(t, err, "run script/test once: it builds the image")
	r := &rig{&Provider{Address: c.Address, Runtime: name, Dir: c.Dir + "/joy", Owner: "me", Guest: sandboxtest.Guest(t)}, c, c.Import(t, tiny)}
	t.Cleanup(func() { r.nothingLeft(t) })
	return r
}

// runID is of this process: what another finds of its own tests on the same machine is none of ours.
var runID = fmt.Sprintf("20261129-180300-%06x", os.Getpid()&0xffffff)

func (r *rig) spec() sandbox.Spec {
	return sandbox.Spec{
		Run: runID, Image: r.image, Isolation: "any", Start: "any", CPUs: 2,
		Memory: sandboxtest.Memory, Disk: sandboxtest.Disk,
	}
}

// create makes a VM that the test ends.
func (r *rig) create(t testing.TB, spec sandbox.Spec) *box {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sandboxtest.Patience)
	defer cancel()
	sb, err := r.Create(ctx, spec)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, sb.Destroy(context.Background())) })
	return sb.(*box)
}

// nothingLeft holds that no container, snapshot, lease or process of any run is there any more.
func (r *rig) nothingLeft(t testing.TB) {
	t.Helper()
	left, err := r.Orphans(context.Background(), func(string) bool { return false })
	require.NoError(t, err)
	require.Empty(t, left)
	pid, name := processOf(containerPrefix + runID)
	require.Zero(t, pid, name)
	names, err := os.ReadDir(r.Dir())
	if err == nil {
		require.Empty(t, names)
	}
}

// Dir is where the provider keeps what VMs need.
func (r *rig) Dir() string { return r.Provider.Dir }
