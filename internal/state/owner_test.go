//go:build unix

package state

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

func TestOpenRefusesAnotherUsersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory away")
	}
	project := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(project, Name), 0o700))
	require.NoError(t, os.Chown(filepath.Join(project, Name), 12345, -1))
	_, err := Open(project, "")
	require.ErrorContains(t, err, "belongs to user 12345, not to you (0)")
	require.Equal(t, fault.Policy, fault.KindOf(err))
}
