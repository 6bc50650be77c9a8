package image

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRealBuild builds from Debian's archive: once into a cache that is kept when JOY_IMAGE_CACHE names it.
func TestRealBuild(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads from Debian's archive")
	}
	for _, profile := range []string{"tiny", "base"} {
		t.Run(profile, func(t *testing.T) {
			a, err := Build(t.Context(), Options{Profile: profile, CacheDir: t.TempDir(), Progress: func(s string) { t.Log(s) }, Log: os.Stderr})
			require.NoError(t, err)
			b, err := Build(t.Context(), Options{Profile: profile, CacheDir: t.TempDir()})
			require.NoError(t, err)
			require.Equal(t, a.Manifest, b.Manifest)
			require.NoError(t, Verify(b))
		})
	}
}
