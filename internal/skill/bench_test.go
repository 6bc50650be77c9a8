package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

// medianBundle is the size that half of all public bundles do not exceed: two files, 10 KB.
func medianBundle(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	body := strings.Repeat("Think about the tea, its age and `where it grew`, and say which of the two you would take.\n", 70)
	require.NoError(b, os.MkdirAll(filepath.Join(dir, "my-skill", "references"), 0o755))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "my-skill", "SKILL.md"), []byte(skillMD("", body)), 0o644))
	require.NoError(b, os.WriteFile(filepath.Join(dir, "my-skill", "references", "tea.md"), []byte(body[:3500]), 0o644))
	return dir
}

func BenchmarkLoad(b *testing.B) {
	fsys := os.DirFS(medianBundle(b))
	for b.Loop() {
		_, err := skill.Load(fsys, "my-skill", skill.Options{})
		require.NoError(b, err)
	}
}

func BenchmarkNeeds(b *testing.B) {
	s, err := skill.Load(os.DirFS(medianBundle(b)), "my-skill", skill.Options{})
	require.NoError(b, err)
	for b.Loop() {
		require.NotEmpty(b, s.Needs().Evidence)
	}
}
