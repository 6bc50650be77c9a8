package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A project may bring a lock of any size along: it is replaced without being taken into memory.
func TestWriteLockOverAHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), LockName)
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<42))
	changed, err := WriteLock(path, []byte("{}\n"))
	require.NoError(t, err)
	require.True(t, changed)
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "{}\n", string(got))
}
