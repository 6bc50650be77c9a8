//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// e2bProject is a project of one script, and a service to run it at.
func e2bProject(t *testing.T, options e2btest.Options) (*bench, *e2btest.Server) {
	t.Helper()
	needVM(t)
	server := e2btest.Start(t, options)
	b := newProject(t, map[string]string{
		"joy.yaml":   "version: 1\nname: far\ndescription: Runs elsewhere.\nskills: [s]\ne2b_template: base\n",
		"s/SKILL.md": "---\nname: s\ndescription: Says where it is.\nmetadata: {joy.entry: run.sh}\n---\n",
		"s/run.sh":   "#!/bin/sh\necho file >out/f\necho \"{\\\"host\\\": \\\"$(hostname)\\\"}\"\nexit ${FAIL:-0}\n",
	})
	b.env = append(b.env, server.Env()...)
	out, err := b.command("build").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return b, server
}

func TestRunAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	lock, err := os.ReadFile(filepath.Join(b.dir, "joy.lock"))
	require.NoError(t, err)
	require.Contains(t, string(lock), server.Build("base"))

	code, stdout, stderr := b.run("run", "--sandbox", "e2b")
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.Contains(t, stdout, `"provider":"e2b"`)
	require.Contains(t, stdout, `"verified":true`)
	require.Contains(t, stdout, `artifact.stored`)
	require.Empty(t, server.Sandboxes())
	require.NotContains(t, stdout+stderr, server.Key)
	found, err := exec.CommandContext(t.Context(), "grep", "-rl", server.Key, b.top).Output()
	require.Error(t, err, "the key is in %s", found)

	server.Rebuild("base")
	code, stdout, stderr = b.run("run", "--sandbox", "e2b")
	require.Equal(t, 3, code, "%s%s", stdout, stderr)
	require.Contains(t, stderr, "joy build --update template")
	code, _, stderr = b.run("build", "--update", "template")
	require.Zero(t, code, stderr)
	code, stdout, stderr = b.run("doctor", "--json")
	require.Contains(t, stdout, "takes the key", "%d %s", code, stderr)
}

func TestE2BWithoutAKey(t *testing.T) {
	b, _ := e2bProject(t, e2btest.Options{})
	b.env = append(b.env, "E2B_API_KEY=")
	code, _, stderr := b.run("run", "--sandbox", "e2b")
	require.Equal(t, 4, code)
	require.Contains(t, stderr, "E2B_API_KEY")
}

// A joy that is killed while its sandbox lives leaves it to gc, which ends it and says so.
func TestKilledAtE2B(t *testing.T) {
	b, server := e2bProject(t, e2btest.Options{})
	b.write("s/run.sh", "#!/bin/sh\nsleep 1000\n")
	code, _, stderr := b.run("build")
	require.Zero(t, code, stderr)
	cmd := b.command("run", "--sandbox", "e2b")
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(server.Sandboxes()) == 1 }, patience, 10*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // killed

	env := b.env
	for key, says := range map[string]string{"": "nobody can tell whether they live", server.Key: "VMs that live on without their joy: "} {
		b.env = append(slices.Clone(env), "E2B_API_KEY="+key)
		_, stdout, _ := b.run("doctor")
		require.Regexp(t, `(?m)^warn  strays +.*`+says, stdout)
	}
	b.env = env
	_, stdout, _ := b.run("gc", "--dry-run")
	require.Contains(t, stdout, "e2b://"+strings.TrimPrefix(server.URL, "http://"))
	require.NotEmpty(t, server.Sandboxes())
	code, stdout, stderr = b.run("gc")
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.Empty(t, server.Sandboxes())
}
