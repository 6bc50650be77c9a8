//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/kata/katatest"
)

// cluster is a containerd of the test's own, the containers of others in it, and a joy that has its VMs there.
type cluster struct {
	*katatest.Containerd
	joy       string
	cache     string
	untouched func(testing.TB)
}

// newCluster starts one whose daemon finds its shims in a directory first, if any is given. It waits for its turn.
func newCluster(t *testing.T, programs string) *cluster {
	t.Helper()
	needVM(t)
	return startCluster(t, programs)
}

func startCluster(t *testing.T, programs string) *cluster {
	t.Helper()
	c := &cluster{Containerd: katatest.StartWith(t, programs), joy: katatest.BuildJoy(t), cache: t.TempDir()}
	// The images are the tester's; what an export notes beside them is not.
	require.NoError(t, os.Mkdir(filepath.Join(c.cache, "joy"), 0o700))
	for _, name := range []string{"images", "profiles", "initrd"} {
		require.NoError(t, os.Symlink(filepath.Join(testerCache(), "joy", name), filepath.Join(c.cache, "joy", name)))
	}
	c.untouched = c.Strangers(t)
	return c
}

// use has a project's VMs be made here, of the image of a profile, which is where docs/kata.md says to put it.
func (c *cluster) use(b *bench, profile string) {
	b.t.Helper()
	runtime, _ := katatest.Runtime()
	b.joy = c.joy
	b.env = append(b.env, "XDG_CACHE_HOME="+c.cache, "JOY_SANDBOX=kata", "JOY_CONTAINERD="+c.Address, "JOY_KATA_RUNTIME="+runtime)
	archive := filepath.Join(c.Dir, profile+".oci.tar")
	if _, err := os.Stat(archive); err == nil {
		return
	}
	code, _, stderr := b.run("image", "export", profile, "--format", "oci", "-o", archive)
	require.Zero(b.t, code, stderr)
	out, err := exec.CommandContext(b.t.Context(), "ctr", "-a", c.Address, "-n", "joy", "images", "import", archive).CombinedOutput()
	require.NoError(b.t, err, "%s", out)
}

// project lays out a project of files, freezes it, and has its VMs be made here.
func (c *cluster) project(t *testing.T, files map[string]string) *bench {
	t.Helper()
	b := newProject(t, files)
	c.use(b, "tiny")
	code, _, stderr := b.run("build")
	require.Zero(t, code, stderr)
	return b
}

// leaves holds that joy gc has nothing to do, or does it, and that then nothing of the project's runs is in containerd or
// on this machine; the containers of others run as before.
func (c *cluster) leaves(b *bench) {
	b.t.Helper()
	code, stdout, stderr := b.run("gc")
	require.Zero(b.t, code, "%s%s", stdout, stderr)
	code, stdout, stderr = b.run("gc", "--json", "--dry-run")
	require.Zero(b.t, code, stderr)
	require.Contains(b.t, stdout, `"runs": []`)
	require.Empty(b.t, b.live())
	left, err := filepath.Glob(filepath.Join(b.top, "state/joy/kata/*"))
	require.NoError(b.t, err)
	require.Empty(b.t, left)
	runs, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(b.t, err)
	for _, run := range runs {
		name := "joy-" + filepath.Base(run)
		require.Empty(b.t, c.named(b.t, name))
		require.Zero(b.t, processNamed(name))
		for _, pattern := range []string{"/sys/fs/cgroup/" + name + "*", "/sys/fs/cgroup/*/" + name + "*"} {
			left, err := filepath.Glob(pattern)
			require.NoError(b.t, err)
			require.Empty(b.t, left)
		}
	}
	c.untouched(b.t)
}

// named is what of containerd's has a name that begins so: containers, snapshots, leases.
func (c *cluster) named(t testing.TB, name string) (all []string) {
	t.Helper()
	for _, what := range []string{"containers", "snapshots", "leases", "tasks"} {
		out, err := exec.CommandContext(t.Context(), "ctr", "-a", c.Address, "-n", "joy", what, "ls").Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, name) {
				all = append(all, what+" "+line)
			}
		}
	}
	return all
}

// processNamed is a process that has the text in its arguments, or 0.
func processNamed(text string) int {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		line, _ := os.ReadFile(path)
		var pid int
		if _, err := fmt.Sscanf(path, "/proc/%d/", &pid); err == nil && pid != os.Getpid() && bytes.Contains(line, []byte(text)) {
			return pid
		}
	}
	return 0
}

// containerOf is the container's name, from the id of sandbox.created.
func containerOf(t testing.TB, created entry) string {
	t.Helper()
	name, _, found := strings.Cut(strings.TrimPrefix(created.Data["id"].(string), "kata:"), "@")
	require.True(t, found)
	return name
}

// gone waits until a VM has no process any more.
func gone(t testing.TB, container string) {
	t.Helper()
	require.Eventually(t, func() bool { return processNamed(container) == 0 }, patience, 20*time.Millisecond)
}
