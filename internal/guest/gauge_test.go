//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGauge(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.events")
	g := gauge{file: file, key: "oom_kill"}
	_, ok := g.read()
	require.False(t, ok, "there is no file")
	for _, c := range []struct {
		body string
		n    int
	}{{"oom 7\noom_kill 2\noom_group_kill 1\n", 2}, {"oom_kill 31\n", 31}, {"oom 7\n", 0}, {"", 0}, {"oom_kill x\n", 0}} {
		require.NoError(t, os.WriteFile(file, []byte(c.body), 0o600))
		n, ok := g.read()
		require.True(t, ok)
		require.Equal(t, c.n, n, c.body)
	}
	g.Close()
	_, ok = g.read()
	require.False(t, ok, "it is closed")
}
