//go:build linux

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// recorded is an agent of one step for a model and no VM, and the record file of a run of it.
func recorded(t *testing.T) *bench {
	t.Helper()
	b, _ := words(t, "openai", modeltest.Script(titled), "")
	code, _, stderr := b.run("run", "--jsonl", "--input", "text=x")
	require.Zero(t, code, stderr)
	code, stdout, stderr := b.run("ledger", "export", "--format", "replay", "-o", "run.replay")
	require.Zero(t, code, "%s%s", stdout, stderr)
	return b
}

// The machine's owner bounds what is repeated on it as what is run there.
func TestThePolicyHoldsForAReplay(t *testing.T) {
	b := recorded(t)
	for _, args := range [][]string{{"replay", "run.replay"}, {"replay", "latest"}, {"simulate", "--exercise", "--record", "run.replay"}} {
		code, stdout, stderr := b.run(args...)
		require.Zero(t, code, "%s%s", stdout, stderr)
	}
	policy := filepath.Join(b.top, "config", "joy", "policy.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(policy), 0o700))
	require.NoError(t, os.WriteFile(policy, []byte("version: 1\nisolation: hardware\n"), 0o600))
	before := b.runs()
	for _, args := range [][]string{{"replay", "run.replay"}, {"replay", "latest"}, {"simulate", "--exercise", "--record", "run.replay"}} {
		code, _, stderr := b.run(args...)
		require.Equal(t, 5, code, stderr)
		require.Contains(t, stderr, "the operator allows hardware only")
	}
	require.Equal(t, before, b.runs(), "nothing has begun")
}

// runs names the runs of the project.
func (b *bench) runs() []string {
	b.t.Helper()
	list, err := filepath.Glob(filepath.Join(b.dir, ".joy/runs/*"))
	require.NoError(b.t, err)
	return list
}

// What lies in the place of a file is no reason to wait.
func TestAPipeIsNoRecord(t *testing.T) {
	b := recorded(t)
	pipe := filepath.Join(b.dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	code, _, stderr := b.run("replay", "./pipe")
	require.Equal(t, 2, code, stderr)
	require.Contains(t, stderr, "not an ordinary file")
	code, _, stderr = b.run("ledger", "verify", "./pipe")
	require.Equal(t, 7, code, stderr)

	run := b.runs()[0]
	for _, name := range []string{"ledger.jsonl", "joy.lock", "seal.note"} {
		kept, err := os.ReadFile(filepath.Join(run, name))
		require.NoError(t, err)
		require.NoError(t, os.Remove(filepath.Join(run, name)))
		require.NoError(t, syscall.Mkfifo(filepath.Join(run, name), 0o600))
		for _, args := range [][]string{
			{"ledger", "verify", filepath.Base(run)}, {"ledger", "export", filepath.Base(run), "--format", "replay", "-o", "x"}, {"freeze", "title", "--from", filepath.Base(run)},
		} {
			code, stdout, stderr := b.run(args...)
			if name == "joy.lock" && args[1] == "verify" || name == "seal.note" && args[0] == "freeze" {
				continue // which has no need of it; that it has ended is what counts
			}
			require.NotZero(t, code, "%s %v: %s%s", name, args, stdout, stderr)
		}
		require.NoError(t, os.Remove(filepath.Join(run, name)))
		require.NoError(t, os.WriteFile(filepath.Join(run, name), kept, 0o600))
	}
	b.verifies(0)
}

// A fixture is what the tool would have said, or the error names it, with its line.
func TestFixturesThatAreNone(t *testing.T) {
	b, _ := errands(t, sumAndDrop)
	spec, err := os.ReadFile(filepath.Join(b.dir, "joy.yaml"))
	require.NoError(t, err)
	b.write("joy.yaml", string(spec)+"fixtures:\n  everything.get-sum: sum.json\n  everything.echo: echo.json\n  files.write_file: echo.json\n")
	b.write("sum.json", `41`)
	b.write("echo.json", `42`)
	code, stdout, stderr := b.run("build")
	require.Zero(t, code, "%s%s", stdout, stderr)
	b.env = slices.DeleteFunc(b.env, func(v string) bool { return strings.HasPrefix(v, "JOY_TRUST=") })
	sum := filepath.Join(b.dir, "sum.json")
	for name, c := range map[string]struct {
		make func() error
		code int
		says string
	}{
		"a failure of the tool": {func() error {
			return os.WriteFile(sum, []byte(`{"content": [{"type": "text", "text": "no such number"}], "isError": true}`), 0o600)
		}, 1, "everything.get-sum failed: no such number"},
		"no JSON":      {func() error { return os.WriteFile(sum, []byte("{"), 0o600) }, 2, "the fixture of everything.get-sum, sum.json"},
		"no UTF-8":     {func() error { return os.WriteFile(sum, []byte("\"\xff\""), 0o600) }, 2, "not valid UTF-8"},
		"a pipe":       {func() error { return syscall.Mkfifo(sum, 0o600) }, 2, "not an ordinary file"},
		"a directory":  {func() error { return os.Mkdir(sum, 0o700) }, 2, "not an ordinary file"},
		"a link out":   {func() error { return os.Symlink("/etc/passwd", sum) }, 2, "escapes"},
		"no file":      {func() error { return nil }, 2, "no such file"},
		"much too big": {func() error { return os.WriteFile(sum, []byte(`"`+strings.Repeat("x", 17<<20)+`"`), 0o600) }, 2, "larger than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.RemoveAll(sum))
			require.NoError(t, c.make())
			code, _, stderr := b.run("simulate", "--exercise", "--input", "n=3")
			require.Equal(t, c.code, code, stderr)
			require.Contains(t, stderr, c.says)
		})
	}
}
