package build

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// wantPlan is the digest of the plan of identical(). It changes with the format of the lock, the rules, or the manifest
// of a tree, and with nothing else: not with a machine, a checkout or a day.
const wantPlan = "sha256:7f349713f597cc9ba6a39577d207e9e6581fd9e91a96f5c9cbbb3ee13791b7c2"

// identical is a project whose files meet every way in which checkouts differ: text, a script, a picture with line ends
// in it, a mixed file, and a name with an accent. The picture keeps its bytes everywhere.
func identical() fstest.MapFS {
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: ['skills/*']\nimage: tiny\n",
		"-- skills/count/SKILL.md --\n---\nname: count\ndescription: Counts words.\nmetadata:\n  joy.entry: run.sh\n---\nCounts.\n"+
			"-- skills/count/run.sh --\n#!/bin/sh\necho '{}'\n-- skills/count/notes/caf\u00e9.md --\nLes r\u00e9sum\u00e9s.\n")
	fsys["skills/count/run.sh"].Mode = 0o755
	fsys["skills/count/a.png"] = &fstest.MapFile{Data: []byte("\x89PNG\r\n\x1a\n\x00\r\n"), Mode: 0o644}
	fsys["skills/count/mixed.txt"] = &fstest.MapFile{Data: []byte("one\r\ntwo\n"), Mode: 0o644}
	return fsys
}

// rewritten is a copy with other names and, of text files with one kind of line end, other bytes.
func rewritten(fsys fstest.MapFS, name func(string) string, text func([]byte) []byte) fstest.MapFS {
	out := fstest.MapFS{}
	for p, f := range fsys {
		data := f.Data
		if !bytes.Contains(data, []byte("\r\n")) {
			data = text(data)
		}
		out[name(p)] = &fstest.MapFile{Data: data, Mode: f.Mode}
	}
	return out
}

func crlf(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) }

func same[T any](v T) T { return v }

// unpacked writes a project to disk by way of a tar, as a release or an archive comes.
func unpacked(t *testing.T, fsys fstest.MapFS) string {
	t.Helper()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	require.NoError(t, w.AddFS(fsys))
	require.NoError(t, w.Close())
	dir := t.TempDir()
	for r := tar.NewReader(&packed); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		require.NoError(t, err)
		p := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.FileInfo().IsDir() {
			require.NoError(t, os.MkdirAll(p, 0o755))
			continue
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(p, data, h.FileInfo().Mode().Perm()))
	}
}

// TestOneLockEverywhere builds one project in every form in which it can arrive and asks for the same bytes.
func TestOneLockEverywhere(t *testing.T) {
	want := build(t, identical())
	require.Equal(t, wantPlan, want.Plan.Digest)
	fromDisk := func(dir string, err error) Options {
		require.NoError(t, err)
		return Options{Dir: dir}
	}
	nfd := rewritten(identical(), norm.NFD.String, same)
	for name, o := range map[string]Options{
		"one job":      {FS: identical(), Jobs: 1},
		"CRLF":         {FS: rewritten(identical(), same, crlf)},
		"tar of CRLF":  fromDisk(unpacked(t, rewritten(identical(), same, crlf)), nil),
		"tar":          fromDisk(unpacked(t, identical()), nil),
		"decomposed":   {FS: nfd},
		"tar from mac": fromDisk(unpacked(t, nfd), nil),
		// Without a mode from the file system a shebang says it, as on Windows.
		"without modes": {FS: rewritten(identical(), same, same), Read: digest.Options{NoExecBit: true}},
	} {
		res, err := Build(context.Background(), o)
		require.NoError(t, err, name)
		require.Equal(t, string(want.Lock), string(res.Lock), name)
	}
}

// TestOneLockFromGit is a checkout with CRLF, as core.autocrlf makes it on Windows, against one without. What was
// converted is told, and is not in the lock.
func TestOneLockFromGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	dir := onDisk(t, identical())
	git := func(in string, args ...string) {
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.precomposeunicode=false"}, args...)...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git(dir, "init", "-q")
	git(dir, "add", ".")
	git(dir, "commit", "-qm", "x")
	want := build(t, identical())
	for _, convert := range []string{"false", "true"} {
		to := filepath.Join(t.TempDir(), "checkout")
		git(dir, "clone", "-q", "-c", "core.autocrlf="+convert, dir, to)
		data, err := os.ReadFile(filepath.Join(to, "skills", "count", "run.sh"))
		require.NoError(t, err)
		require.Equal(t, convert == "true", bytes.Contains(data, []byte("\r\n")), "git did convert")
		res, err := Build(context.Background(), Options{Dir: to})
		require.NoError(t, err)
		require.Equal(t, string(want.Lock), string(res.Lock))
		require.Equal(t, convert == "true", slices.ContainsFunc(res.Findings, func(f plan.Finding) bool { return f.Rule == skill.RuleLineEnds }))
		rep, err := Check(context.Background(), want.Lock, LockName, Options{Dir: to})
		require.NoError(t, err)
		require.Empty(t, rep.Changes)
	}
}
