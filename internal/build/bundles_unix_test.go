//go:build unix

package build

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A pipe in the place of the directory above the bundles is a bundle that is not there.
func TestBundlesBelowAPipe(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, unix.Mkfifo(filepath.Join(dir, "skills"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "joy.yaml"), []byte("version: 1\nname: a\nskills: [skills/greet]\n"), 0o600))
	_, err := Build(t.Context(), Options{Dir: dir})
	require.ErrorContains(t, err, "skills/greet")
}
