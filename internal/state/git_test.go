package state

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// git runs the real thing, with none of the tester's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

func write(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
}

// repository makes one with some files and an untracked .joy in project "p".
func repository(t *testing.T, initArgs ...string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, append([]string{"init", "-q"}, initArgs...)...)
	for _, name := range []string{"a", "p/.joyous/b", "p/.joy.txt", "p/joy.yaml", "p/z", "q/.joy/runs/x"} {
		write(t, filepath.Join(dir, name))
	}
	git(t, dir, "add", ".")
	write(t, filepath.Join(dir, "p/.joy/runs/x"))
	return dir
}

func TestGitIndex(t *testing.T) {
	for name, c := range map[string]struct {
		init  []string
		after [][]string // git commands between adding files and adding .joy
	}{
		"version 2": {nil, [][]string{{"update-index", "--index-version", "2"}}},
		"version 3": {nil, [][]string{{"add", "-N", "p/.joy/runs/x"}, {"rm", "-q", "--cached", "p/.joy/runs/x"}}},
		"version 4": {nil, [][]string{{"update-index", "--index-version", "4"}}},
		"SHA-256":   {[]string{"--object-format=sha256"}, nil},
		"split":     {nil, [][]string{{"update-index", "--split-index"}}},
		"extended":  {nil, [][]string{{"update-index", "--skip-worktree", "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, c.init...)
			for _, args := range c.after {
				git(t, dir, args...)
			}
			_, err := Open(filepath.Join(dir, "p"), "")
			require.NoError(t, err)

			git(t, dir, "add", "-f", "p/.joy/runs/x")
			_, err = Open(filepath.Join(dir, "p"), "")
			require.ErrorContains(t, err, "holds p/.joy/runs/x, which git tracks")
			require.Equal(t, fault.Policy, fault.KindOf(err))
			_, err = OpenExisting(filepath.Join(dir, "p"), "")
			require.Error(t, err)
		})
	}
}

func TestGitTracksTheLaterHalfOfASplitIndex(t *testing.T) {
	dir := repository(t)
	git(t, dir, "add", "-f", "p/.joy/runs/x")
	git(t, dir, "update-index", "--split-index")
	write(t, filepath.Join(dir, "later"))
	git(t, dir, "add", "later")
	_, err := Open(filepath.Join(dir, "p"), "")
	require.ErrorContains(t, err, "git tracks")
}

func TestGitOverrideInsideARepository(t *testing.T) {
	dir := repository(t)
	_, err := Open(filepath.Join(dir, "p"), filepath.Join(dir, "q", ".joy"))
	require.ErrorContains(t, err, "holds q/.joy/runs/x")
	_, err = Open(filepath.Join(dir, "q"), filepath.Join(dir, "p", ".joy"))
	require.NoError(t, err)
}

func TestGitLinkedWorkTree(t *testing.T) {
	dir := repository(t)
	git(t, dir, "commit", "-qm", "x")
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	_, err := Open(filepath.Join(linked, "q"), "")
	require.ErrorContains(t, err, "holds q/.joy/runs/x")
	_, err = Open(filepath.Join(linked, "p"), "")
	require.NoError(t, err)
}

func TestGitIndexThatCannotBeRead(t *testing.T) {
	dir := repository(t)
	index := filepath.Join(dir, ".git", "index")
	whole, err := os.ReadFile(index)
	require.NoError(t, err)
	for _, data := range [][]byte{nil, whole[:40], whole[:len(whole)/2], []byte("DIRC\x00\x00\x00\x09")} {
		require.NoError(t, os.WriteFile(index, data, 0o600))
		_, err := Open(filepath.Join(dir, "p"), "")
		require.ErrorContains(t, err, "find out whether git tracks")
	}
}

func FuzzTrackedUnder(f *testing.F) {
	for _, seed := range []string{"", "DIRC", "DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + "01234567890123456789"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tracked, _, err := trackedUnder(data, "p/.joy")
		if err == nil && tracked != "" {
			require.True(t, under(tracked, "p/.joy"))
		}
	})
}
