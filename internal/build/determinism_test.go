package build

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
)

// onDisk writes a project below a new directory and returns it.
func onDisk(t testing.TB, fsys fstest.MapFS) string {
	t.Helper()
	dir := t.TempDir()
	for name, f := range fsys {
		p := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, f.Data, f.Mode.Perm()))
	}
	return dir
}

// reversed lists directories backwards.
type reversed struct{ fstest.MapFS }

func (r reversed) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := r.MapFS.ReadDir(name)
	slices.Reverse(list)
	return list, err
}

func TestSameBytesEverywhere(t *testing.T) {
	fsys := project("-- joy.yaml --\nversion: 1\nname: a\nskills: ['skills/*']\n", advice, count)
	want := build(t, fsys).Lock
	for key, value := range map[string]string{"HOME": "/nowhere", "TZ": "Asia/Tokyo", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"} {
		t.Setenv(key, value)
	}
	for range 2 {
		res, err := Build(context.Background(), Options{Dir: onDisk(t, fsys), Jobs: 1})
		require.NoError(t, err)
		require.Equal(t, string(want), string(res.Lock))
	}
	require.Equal(t, string(want), string(build(t, reversed{fsys}).Lock))
}

func TestLineEndsOfACheckoutDoNotMatter(t *testing.T) {
	fsys := project(both, advice, count)
	want := build(t, fsys).Plan
	for name, f := range fsys {
		fsys[name] = &fstest.MapFile{Data: bytes.ReplaceAll(f.Data, []byte("\n"), []byte("\r\n")), Mode: f.Mode}
	}
	got := build(t, fsys).Plan
	require.Equal(t, want.Agent.Spec, got.Agent.Spec)
	for i := range want.Skills {
		require.Equal(t, want.Skills[i].Digest, got.Skills[i].Digest)
	}
}

func TestASecondBuildLeavesTheFileAlone(t *testing.T) {
	dir := onDisk(t, project(both, advice, count))
	path := filepath.Join(dir, LockName)
	res, err := Build(context.Background(), Options{Dir: dir})
	require.NoError(t, err)
	changed, err := WriteLock(path, res.Lock)
	require.NoError(t, err)
	require.True(t, changed)
	past := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	require.NoError(t, os.Chtimes(path, past, past))

	again, err := Build(context.Background(), Options{Dir: dir, Old: res.Plan})
	require.NoError(t, err)
	changed, err = WriteLock(path, again.Lock)
	require.NoError(t, err)
	require.False(t, changed)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, info.ModTime().Equal(past))
	left, err := filepath.Glob(filepath.Join(dir, ".joy-lock-*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestTheLockOfABundleIsOutsideItsDigest(t *testing.T) {
	dir := filepath.Join(onDisk(t, project(advice)), "skills", "advice")
	first, err := Build(context.Background(), Options{Dir: dir})
	require.NoError(t, err)
	_, err = WriteLock(filepath.Join(dir, LockName), first.Lock)
	require.NoError(t, err)
	second, err := Build(context.Background(), Options{Dir: dir})
	require.NoError(t, err)
	require.Equal(t, string(first.Lock), string(second.Lock))
}

func TestModesComeFromGitWhereTheFileSystemHasNone(t *testing.T) {
	m := gitModes{prefix: "sub/", modes: map[string]string{"sub/skills/count/scripts/count.py": digest.ModeExec}}
	b := &builder{o: Options{Dir: t.TempDir(), Read: digest.Options{NoExecBit: true}}}
	b.gitOnce.Do(func() { b.git = m })
	mode, ok := b.modes("skills/count")("scripts/count.py")
	require.True(t, ok)
	require.Equal(t, digest.ModeExec, mode)
	_, ok = b.modes("skills/count")("SKILL.md")
	require.False(t, ok)
	require.Empty(t, readGitModes(t.TempDir()).modes)
}
