//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
)

const canaryMark = "canary-5f1c9a7e"

// sources puts a canary where each kind of reference looks, outside of all that joy writes, and gives the references and
// the variables that go with them. No keyring answers here.
func sources(t *testing.T) (refs map[string]string, env []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), mode))
		return path
	}
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	write("identity", id.String()+"\n", 0o600)
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, id.Recipient())
	require.NoError(t, err)
	_, err = fmt.Fprintf(w, "it=%s-age\n", canaryMark)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	write("bin/op", "#!/bin/sh\nexec cat "+write("by-op", canaryMark+"-op\n", 0o600)+"\n", 0o700)
	refs = map[string]string{
		"env":  "env:CANARY_ENV",
		"file": "file:" + write("file", canaryMark+"-file\n", 0o600),
		"age":  "age:" + write("sealed.age", sealed.String(), 0o644) + "#it",
		"cmd":  fmt.Sprintf(`cmd:["cat",%q]`, write("by-cmd", canaryMark+"-cmd\n", 0o600)),
		"op":   "op://work/it/token",
	}
	return refs, []string{
		"CANARY_ENV=" + canaryMark + "-env", "JOY_SECRET_CI=" + canaryMark + "-ci", "IDENTITY=" + filepath.Join(dir, "identity"),
		"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"),
	}
}

// keepSecrets tells joy where each canary is, and for which connection.
func (b *bench) keepSecrets(refs map[string]string, env []string, connection func(kind string) string) {
	b.t.Helper()
	for kind, ref := range refs {
		out, err := b.command("secret", "set", kind, "--connection", connection(kind), "--from", ref).CombinedOutput()
		require.NoError(b.t, err, "%s", out)
	}
	list := filepath.Join(b.top, "config", "joy", "secrets.yaml")
	text, err := os.ReadFile(list)
	require.NoError(b.t, err)
	identity := strings.TrimPrefix(env[2], "IDENTITY=")
	require.NoError(b.t, os.WriteFile(list, append(text, "identities: ["+identity+"]\n"...), 0o600))
}

// TestCanaries gives a credential of each kind to a connection and kills joy while it holds them all: none is in a file, in
// an argument list, or in what joy said.
func TestCanaries(t *testing.T) {
	refs, env := sources(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	spec := "version: 1\nname: canaries\nskills: [a]\nconnections:\n"
	kinds := []string{"env", "file", "age", "cmd", "op", "ci"}
	for _, kind := range kinds {
		script := fmt.Sprintf(`[ "$TOKEN" = %s-%s ] && echo %s > %s; exec sleep 1000`, canaryMark[:6]+`"-"`+canaryMark[7:], kind, kind, pipe)
		spec += fmt.Sprintf("  %s: {command: [sh, -c, %q], env: {TOKEN: 'secret:%s'}, unconfined: a test}\n", kind, script, kind)
	}
	b := newBench(t, map[string]string{"joy.yaml": spec, "a/SKILL.md": "---\nname: a\ndescription: Waits.\n---\nWait.\n"})
	b.env = append(b.env, env...)
	b.keepSecrets(refs, env, func(kind string) string { return kind })
	b.allow()

	joy := b.command("connect", "test", "-v")
	var said bytes.Buffer
	joy.Stdout, joy.Stderr = &said, &said
	require.NoError(t, joy.Start())
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing too, so that it does not end when the first has written
	require.NoError(t, err)
	defer reader.Close()
	require.NoError(t, reader.SetReadDeadline(time.Now().Add(patience))) // one that lacks its credential says nothing
	lines := bufio.NewReader(reader)
	var got []string
	for range kinds {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		got = append(got, strings.TrimSpace(line))
	}
	require.ElementsMatch(t, kinds, got, "each has its own credential")
	noArgument(t)
	require.NoError(t, joy.Process.Kill())
	var killed *exec.ExitError
	require.ErrorAs(t, joy.Wait(), &killed)
	require.NotContains(t, said.String(), canaryMark)
	noFile(t, b.top)
}

// noArgument holds that no process of the machine has a canary in its argument list.
func noArgument(t *testing.T) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for _, path := range all {
		text, err := os.ReadFile(path)
		if err == nil { // else the process ended
			require.NotContains(t, string(text), canaryMark, path)
		}
	}
}

// noFile holds that nothing below top, where joy has its home, state, settings and temporary files, holds a canary.
func noFile(t *testing.T, top string) {
	t.Helper()
	seen := 0
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		seen++
		text, err := os.ReadFile(path)
		require.NotContains(t, string(text), canaryMark, path)
		return err
	}))
	require.Positive(t, seen)
}
