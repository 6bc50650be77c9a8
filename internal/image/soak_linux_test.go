package image

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRealBuild builds each profile from Debian's archive twice, into caches that know nothing of each other. That
// script/test builds each once, as a person would, is enough for every day.
func TestRealBuild(t *testing.T) {
	if os.Getenv("JOY_SOAK") == "" {
		t.Skip("downloads 900 MB from Debian's archive: script/soak")
	}
	for _, profile := range Profiles {
		t.Run(profile, func(t *testing.T) {
			if err := Needs(profile, nil); err != nil {
				t.Skip(err)
			}
			a, err := Build(t.Context(), Options{Profile: profile, CacheDir: t.TempDir(), Progress: func(p Progress) { t.Log(p.Phase) }})
			require.NoError(t, err)
			b, err := Build(t.Context(), Options{Profile: profile, CacheDir: t.TempDir()})
			require.NoError(t, err)
			require.Equal(t, a.Manifest, b.Manifest)
			for _, p := range a.Manifest.Packages {
				require.Len(t, p.SHA256, 64, p.Name)
			}
			require.NoError(t, Verify(b))
		})
	}
}
