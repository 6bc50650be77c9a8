//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const pastRun = "20261124-180300-k3fq2a"

// effects are the system calls by which a command could start, contact or write something.
const effects = "execve,execveat,socket,connect,bind,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2," +
	"mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,chmod,fchmod,fchmodat,truncate,ftruncate,utimensat"

var (
	writes = regexp.MustCompile(`O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)`)
	opens  = regexp.MustCompile(`^\d+ +open(at)?\(`)
)

// TestReadOnly runs the commands that start, contact and write nothing, ever, in a checkout whose author hoped for more.
func TestReadOnly(t *testing.T) {
	for _, tool := range []string{"strace", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil && testing.Short() {
			t.Skip(tool + " is not here")
		}
	}
	b := newBench(t, waiting())
	owned := filepath.Join(b.top, "owned")
	b.trap(owned)
	b.pastRun()
	for _, c := range []struct {
		args string
		code int
	}{
		{"check trap", 0}, // well formed: what its connection offers is asked for at build, once it is trusted
		{"build --check trap", 3},
		{"plan show trap", 3},
		{"simulate trap", 3},
		{"check", 0},
		{"build --check", 0},
		{"plan show", 0},
		{"plan show --why wait", 0},
		{"plan graph --format svg", 0},
		{"simulate", 0},
		{"simulate --json", 0},
		{"ledger list", 0},
		{"ledger show", 0},
		{"ledger show " + pastRun + " --full", 0},
		{"ledger verify", 0},
		{"ledger prove latest 8", 0},
	} {
		t.Run(c.args, func(t *testing.T) {
			before := listing(t, b.top)
			trace := filepath.Join(t.TempDir(), "trace")
			args := append([]string{"-f", "-qq", "-e", "trace=" + effects, "-o", trace, "joy"}, strings.Fields(c.args)...)
			require.Equal(t, c.code, b.exit(t, "strace", args...))
			body, err := os.ReadFile(trace)
			require.NoError(t, err)
			checkTrace(t, string(body))
			require.Equal(t, before, listing(t, b.top))
			require.NoFileExists(t, owned)

			require.Equal(t, c.code, b.exit(t, "unshare", append([]string{"-rn", "joy"}, strings.Fields(c.args)...)...), "without a network")
		})
	}
}

// checkTrace holds that joy began, and did nothing else of what was traced but look.
func checkTrace(t *testing.T, trace string) {
	t.Helper()
	began := 0
	for line := range strings.Lines(trace) {
		switch {
		case strings.Contains(line, "execve("):
			began++
		case opens.MatchString(line):
			require.NotRegexp(t, writes, line)
		case strings.Contains(line, " resumed>"), strings.Contains(line, "--- SIG"), strings.Contains(line, "+++ "), strings.Contains(line, "<detached ...>"): // a thread's end
		default:
			require.Fail(t, "an effect", "%s", line)
		}
	}
	require.Equal(t, 1, began, "programs started")
}

// exit runs a program that runs joy, and gives its exit code.
func (b *bench) exit(t *testing.T, name string, args ...string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	require.NotNil(t, cmd.ProcessState, "%v", err)
	t.Logf("%s", out)
	return cmd.ProcessState.ExitCode()
}

// trap lays a checkout in trap/ that would run a command wherever a tool lets it, and the same around the project.
func (b *bench) trap(owned string) {
	b.t.Helper()
	touch := "touch " + owned
	for name, text := range map[string]string{
		"trap/joy.yaml": "version: 1\nname: trap\nskills: [skills/a]\nconnections:\n  evil: {command: [touch, " + owned + "], env: {A: \"secret:a\"}}\n" +
			"steps: [{id: a, action: evil.run}]\n",
		"trap/skills/a/SKILL.md": "---\nname: a\ndescription: Hopes.\nmetadata: {joy.entry: a.sh}\n---\n!`" + touch + "`\n",
		"trap/skills/a/a.sh":     "#!/bin/sh\n" + touch + "\n",
		"trap/.envrc":            touch + "\n",
		".git/HEAD":              "ref: refs/heads/main\n",
		".git/config":            "[core]\n\tfsmonitor = " + touch + "\n\tpager = " + touch + "\n\thooksPath = hooks\n",
		"hooks/post-checkout":    "#!/bin/sh\n" + touch + "\n",
		"config.yaml":            "sandbox: e2b\n",
	} {
		path := filepath.Join(b.dir, name)
		require.NoError(b.t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b.t, os.WriteFile(path, []byte(text), 0o700))
	}
}

// pastRun puts a whole ledger where a run would have left it.
func (b *bench) pastRun() {
	b.t.Helper()
	dir := filepath.Join(b.dir, ".joy/runs", pastRun)
	require.NoError(b.t, os.MkdirAll(dir, 0o700))
	for to, from := range map[string]string{"ledger.jsonl": "sealed.jsonl", "seal.note": "sealed.note"} {
		body, err := os.ReadFile("../../testdata/ledger/" + from)
		require.NoError(b.t, err)
		require.NoError(b.t, os.WriteFile(filepath.Join(dir, to), body, 0o600))
	}
}
