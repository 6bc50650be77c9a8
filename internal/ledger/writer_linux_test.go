package ledger_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

func TestFileIsPrivateAndNoLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, ledger.FileName)
	require.NoError(t, os.Symlink(filepath.Join(dir, "elsewhere"), path))
	_, err := ledger.Create(dir, "r", plan, ledger.Options{})
	require.ErrorIs(t, err, os.ErrExist)
	require.NoFileExists(t, filepath.Join(dir, "elsewhere"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "elsewhere"), write(t, story), 0o600))
	_, err = ledger.Reopen(dir, "20261124-180300-k3fq2a", plan, ledger.Options{})
	require.ErrorContains(t, err, "not a regular file")

	require.NoError(t, os.Remove(path))
	w, err := ledger.Create(dir, "r", plan, ledger.Options{})
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, w.Close())
}
