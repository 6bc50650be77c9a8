//go:build linux

package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// cluster is a containerd and the joy that has its VMs there: Kata's own where JOY_TEST_KATA is set, else containers that
// only this joy is linked to accept.
type cluster struct {
	*katatest.Containerd
	joy string
	env []string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts containers")
	}
	c := &cluster{katatest.Start(t), katatest.BuildJoy(t), nil}

	// The images are the tester's; what an export notes beside them is not.
	from, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	cache := filepath.Join(t.TempDir(), "joy")
	require.NoError(t, os.Mkdir(cache, 0o700))
	for _, name := range []string{"images", "profiles"} {
		require.NoError(t, os.Symlink(filepath.Join(from, name), filepath.Join(cache, name)))
	}
	runtime, _ := katatest.Runtime()
	c.env = []string{
		"XDG_CACHE_HOME=" + filepath.Dir(cache), "JOY_SANDBOX=kata", "JOY_CONTAINERD=" + c.Address, "JOY_KATA_RUNTIME=" + runtime,
	}
	return c
}

// agent is newAgent with its VMs here and the image where docs/kata.md says to put it.
func (c *cluster) agent(t *testing.T, example, profile string) *agent {
	t.Helper()
	a := newAgent(t, c.joy, example, profile)
	a.env = append(a.env, c.env...)
	archive := filepath.Join(c.Dir, profile+".oci.tar")
	if _, err := os.Stat(archive); err != nil {
		a.run("image", "export", profile, "--format", "oci", "-o", archive)
		out, err := exec.CommandContext(t.Context(), "ctr", "-a", c.Address, "-n", "joy", "images", "import", archive).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	return a
}

// leftNothing holds that there is nothing for joy gc to do.
func (a *agent) leftNothing() {
	a.t.Helper()
	require.Contains(a.t, a.run("gc", "--json", "--dry-run"), `"runs": []`)
}
