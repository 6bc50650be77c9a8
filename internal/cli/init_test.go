package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/skill"
)

// TestScaffold holds the agent that people start from to what joy asks of theirs.
func TestScaffold(t *testing.T) {
	top, err := fs.Sub(scaffold, "scaffold")
	require.NoError(t, err)
	data, err := fs.ReadFile(top, "joy.yaml")
	require.NoError(t, err)
	spec, err := agent.Parse(data, "joy.yaml")
	require.NoError(t, err)
	require.Len(t, spec.Skills, 1)

	bundle, err := skill.Load(top, spec.Skills[0].Value, skill.Options{Strict: true})
	require.NoError(t, err)
	require.Empty(t, bundle.Findings)
	require.Empty(t, bundle.Violations)
	require.NotNil(t, bundle.Entry)
	require.Equal(t, "scripts/hello.sh", bundle.Entry.Path)
}

// A directory that a stranger prepared must not lead joy init to write somewhere else, with --force or without.
func TestInitThroughALinkedDirectory(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making a link needs a privilege there")
	}
	for _, name := range []string{"skills", ".github", ".github/workflows", "skills/hello"} {
		a, _, _ := testApp(t)
		outside := t.TempDir()
		link := filepath.Join(a.dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(link), 0o700))
		require.NoError(t, os.Symlink(outside, link))
		for _, args := range [][]string{{"init", "--ci", "github"}, {"init", "--ci", "github", "--force"}} {
			err := a.execute(t.Context(), args)
			require.ErrorContains(t, err, "in the way and not a directory", name)
			require.Equal(t, 2, exitCode(err), name)
		}
		left, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Empty(t, left, name)
		require.NoFileExists(t, filepath.Join(a.dir, "joy.yaml"), "all or none")
	}
}
