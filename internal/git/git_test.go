package git

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run runs real git, without the tester's configuration, and returns what it says.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
		"GIT_AUTHOR_DATE=2020-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2020-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, data, 0o644))
}

// version is a text that grows and changes a little from commit to commit, so that packs hold deltas.
func version(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for i := range 400 {
		fmt.Fprintf(&b, "%d %x\n", i, random.Uint64())
		if i == 7*n {
			fmt.Fprintf(&b, "changed in %d\n", n)
		}
	}
	return b.Bytes()
}

const commits = 12

// repository makes one with a file that is at version(n) in the nth commit.
func repository(t testing.TB, initArgs ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	run(t, dir, append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	for n := range commits {
		write(t, filepath.Join(dir, "agent", "joy.lock"), version(n))
		run(t, dir, "add", ".")
		run(t, dir, "commit", "-q", "-m", fmt.Sprint(n))
	}
	run(t, dir, "tag", "-a", "-m", "x", "v1", "HEAD~3")
	run(t, dir, "branch", "feature/x", "HEAD~2")
	return dir
}

func fileAt(t testing.TB, dir, rev string) ([]byte, error) {
	t.Helper()
	r, err := Open(dir)
	require.NoError(t, err)
	defer r.Close()
	c, err := r.Resolve(rev)
	if err != nil {
		return nil, err
	}
	return r.File(c, "agent/joy.lock")
}

func TestNotThere(t *testing.T) {
	_, err := Open(t.TempDir())
	require.ErrorIs(t, err, ErrNone)
	dir := repository(t)
	for _, rev := range []string{"gone", "v2", "refs/heads/gone", "0000", strings.Repeat("0", 40), "HEAD~99", "HEAD^2", "config", "description"} {
		_, err := fileAt(t, dir, rev)
		require.ErrorIs(t, err, ErrNotFound, rev)
	}
	for _, rev := range []string{"", "~1", "../../etc/passwd", "HEAD:x", "a..b", "-x", "refs/../config", "HEAD@{1}", "a\x00b", "a b", "HEAD~99999999999999999999"} {
		_, err := fileAt(t, dir, rev)
		require.Error(t, err, rev)
		require.NotErrorIs(t, err, ErrNotFound, rev)
	}
	r, err := Open(filepath.Join(dir, "agent"))
	require.NoError(t, err)
	defer r.Close()
	head, err := r.Resolve("HEAD")
	require.NoError(t, err)
	for _, path := range []string{"agent/other", "joy.lock", "agent/joy.lock/x", "agent", "../x", ""} {
		_, err := r.File(head, path)
		require.Error(t, err, path)
	}
	_, err = r.Rel(filepath.Join(t.TempDir(), "x"))
	require.ErrorContains(t, err, "outside")
	rel, err := r.Rel(filepath.Join(dir, "agent", "joy.lock"))
	require.NoError(t, err)
	require.Equal(t, "agent/joy.lock", rel)
}

// TestEveryForm reads every commit in every form in which git keeps objects and refs.
func TestEveryForm(t *testing.T) {
	for name, tc := range map[string]struct {
		init []string
		then func(t *testing.T, dir string) string
	}{
		"loose":  {},
		"packed": {then: func(t *testing.T, dir string) string { run(t, dir, "gc", "-q", "--aggressive"); return dir }},
		"ref deltas": {then: func(t *testing.T, dir string) string {
			run(t, dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq")
			return dir
		}},
		"sha256": {init: []string{"--object-format=sha256"}, then: func(t *testing.T, dir string) string { run(t, dir, "gc", "-q"); return dir }},
		"work tree": {then: func(t *testing.T, dir string) string {
			to := filepath.Join(t.TempDir(), "tree")
			run(t, dir, "worktree", "add", "-q", "--detach", to, "main")
			return to
		}},
		"shared clone": {then: func(t *testing.T, dir string) string {
			to := filepath.Join(t.TempDir(), "clone")
			run(t, dir, "clone", "-q", "--shared", dir, to)
			run(t, to, "branch", "feature/x", "origin/feature/x")
			return to
		}},
		"git dir elsewhere": {then: func(t *testing.T, dir string) string {
			run(t, dir, "init", "-q", "--separate-git-dir", filepath.Join(t.TempDir(), "elsewhere"))
			return dir
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, tc.init...)
			if tc.then != nil {
				dir = tc.then(t, dir)
			}
			for n := range commits {
				back := commits - 1 - n
				got, err := fileAt(t, dir, fmt.Sprintf("HEAD~%d", back))
				require.NoError(t, err)
				require.Equal(t, string(version(n)), string(got))
			}
			for rev, n := range map[string]int{
				"@": commits - 1, "main": commits - 1, "refs/heads/main^^0": commits - 2, "v1": commits - 4, "v1~2^": commits - 7,
				"feature/x": commits - 3, run(t, dir, "rev-parse", "HEAD~5"): commits - 6,
				run(t, dir, "rev-parse", "--short=7", "HEAD~5"): commits - 6, run(t, dir, "rev-parse", "v1"): commits - 4,
			} {
				got, err := fileAt(t, dir, rev)
				require.NoError(t, err, rev)
				require.Equal(t, string(version(n)), string(got), rev)
			}
		})
	}
}

func TestMergesAndLinks(t *testing.T) {
	dir := repository(t)
	run(t, dir, "checkout", "-q", "feature/x")
	require.NoError(t, os.Remove(filepath.Join(dir, "agent", "joy.lock")))
	require.NoError(t, os.Symlink("/etc/hostname", filepath.Join(dir, "agent", "joy.lock")))
	run(t, dir, "commit", "-qam", "link")
	_, err := fileAt(t, dir, "HEAD")
	require.ErrorContains(t, err, "not an ordinary file")
	run(t, dir, "checkout", "-q", "main")
	run(t, dir, "merge", "-q", "-s", "ours", "-m", "merge", "feature/x")
	first, err := fileAt(t, dir, "HEAD^1")
	require.NoError(t, err)
	require.Equal(t, string(version(commits-1)), string(first))
	_, err = fileAt(t, dir, "HEAD^2")
	require.ErrorContains(t, err, "not an ordinary file")
	second, err := fileAt(t, dir, "HEAD^2~1")
	require.NoError(t, err)
	require.Equal(t, string(version(commits-3)), string(second))
}
