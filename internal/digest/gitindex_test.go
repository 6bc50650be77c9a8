package digest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
)

// realIndex is an index as git itself writes it.
func realIndex(t *testing.T, version string) []byte {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"a.sh": 0o755, "a.md": 0o644, "deep/dir/b.sh": 0o755, "deep/dir/b.md": 0o644} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), mode))
	}
	for _, args := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"update-index", "--add", "--chmod=+x", "a.sh", "deep/dir/b.sh"},
		{"update-index", "--index-version", version},
	} {
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	index, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	require.NoError(t, err)
	return index
}

func TestGitModes(t *testing.T) {
	want := map[string]string{"a.sh": "0755", "a.md": "0644", "deep/dir/b.sh": "0755", "deep/dir/b.md": "0644"}
	for _, version := range []string{"2", "4"} {
		index := realIndex(t, version)
		got, err := digest.GitModes(index)
		require.NoError(t, err)
		require.Equal(t, want, got)

		for cut := range index {
			_, err := digest.GitModes(index[:cut])
			require.Error(t, err)
		}
		index[len(index)/2] ^= 1
		_, err = digest.GitModes(index)
		require.ErrorContains(t, err, "checksum")
	}
}

func FuzzGitModes(f *testing.F) {
	zero := make([]byte, 20)
	for _, version := range []byte{2, 3, 4, 9} {
		head := []byte{'D', 'I', 'R', 'C', 0, 0, 0, version, 0, 0, 0, 1}
		f.Add(append(append(head, make([]byte, 72)...), zero...))
	}
	f.Fuzz(func(t *testing.T, index []byte) {
		index = append(index, zero...) // git may leave the checksum out, so that every input gets past it
		modes, err := digest.GitModes(index)
		if err != nil {
			require.Nil(t, modes)
		}
		for _, m := range modes {
			require.Contains(t, []string{digest.ModePlain, digest.ModeExec}, m)
		}
	})
}
