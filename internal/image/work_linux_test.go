package image

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func testBuilder(t *testing.T) *builder {
	t.Helper()
	tmp, cache := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(imagesDir(cache), 0o755))
	stage := filepath.Join(imagesDir(cache), stagePrefix+"1")
	require.NoError(t, os.Mkdir(stage, 0o755))
	return &builder{stage: stage, Options: Options{CacheDir: cache, LookupEnv: func(key string) (string, bool) {
		return tmp, key == "TMPDIR"
	}}}
}

// A build that was killed is swept with what it had outside the cache.
func TestSweep(t *testing.T) {
	b := testBuilder(t)
	dir, err := b.workDir()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "mmdebstrap.x", "etc"), 0o755))
	require.NoError(t, b.sweep(t.Context()))
	require.NoDirExists(t, dir)
	require.NoDirExists(t, b.stage)
	require.NoError(t, b.sweep(t.Context()))
}

func TestSweepTouchesNothingElse(t *testing.T) {
	b := testBuilder(t)
	precious := t.TempDir()
	for _, note := range []string{precious, "relative/joy-image-1", "/", ""} {
		require.NoError(t, os.WriteFile(filepath.Join(b.stage, workNote), []byte(note), 0o600))
		require.ErrorContains(t, b.sweep(t.Context()), "not a directory of a build", note)
		require.DirExists(t, precious)
	}
}
