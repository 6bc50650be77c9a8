//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// needVM is storyVM for a test in Go, which may run beside others.
func needVM(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("boots a VM")
	}
	require.NoError(t, tinyImage(), "run script/test, which builds the images")
	t.Parallel()
	slots <- struct{}{}
	t.Cleanup(func() { <-slots })
}

// bench is a project of a test in Go with directories of its own, as isolate gives to a story.
type bench struct {
	t   testing.TB
	dir string // the project
	top string // everything that joy may write to
	env []string
	joy string // the program, "" is what is under test
}

// newBench lays out a project of files and freezes it.
func newBench(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := newProject(t, files)
	out, err := b.command("build").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return b
}

// allow has the tester allow what the project would start and contact.
func (b *bench) allow() {
	b.t.Helper()
	_, stdout, stderr := b.run("trust", "--json")
	var doc struct {
		Digest string `json:"digest"`
	}
	require.NoError(b.t, json.Unmarshal([]byte(stdout), &doc), "%s%s", stdout, stderr)
	b.env = append(b.env, "JOY_TRUST="+doc.Digest)
}

// newProject lays out a project of files.
func newProject(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t, top: t.TempDir()}
	b.dir = filepath.Join(b.top, "project")
	b.env = append(b.env, "PATH="+os.Getenv("PATH"), "JOY_ACCEL=tcg", "XDG_CACHE_HOME="+testerCache(), "TERM=dumb")
	for key, dir := range map[string]string{
		"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_RUNTIME_DIR": "runtime", "TMPDIR": "tmp",
	} {
		path := filepath.Join(b.top, dir)
		require.NoError(t, os.MkdirAll(path, 0o700))
		b.env = append(b.env, key+"="+path)
	}
	for name, text := range files {
		path := filepath.Join(b.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return b
}
