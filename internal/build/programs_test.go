package build

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/image"
)

var update = flag.Bool("update", false, "write programs/*.txt from the images that are here")

// perhaps are programs of full that an image has only where their source could be reached when it was built.
var perhaps = []string{"uv", "uvx"}

// TestProgramsAreTheImages holds the table that skills are judged by to what the images really have.
func TestProgramsAreTheImages(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the images")
	}
	cache, err := image.DefaultCacheDir(os.Getenv)
	require.NoError(t, err)
	base := programsIn(t, cache, "base")
	full := slices.DeleteFunc(programsIn(t, cache, "full"), func(name string) bool { return slices.Contains(base, name) })
	for _, name := range perhaps {
		if !slices.Contains(full, name) {
			full = append(full, name)
		}
	}
	slices.Sort(full)
	for file, want := range map[string][]string{"tiny": programsIn(t, cache, "tiny"), "base": base, "full": full} {
		path := "programs/" + file + ".txt"
		if *update {
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(want, "\n")+"\n"), 0o600))
		}
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, want, strings.Fields(string(got)), "%s: go test ./internal/build -run %s -update", path, t.Name())
	}
}

// programsIn are the programs of a profile's image as its manifest lists them. full has all of base.
func programsIn(t *testing.T, cache, profile string) []string {
	t.Helper()
	img, err := image.Latest(cache, profile)
	require.NoError(t, err, "run script/test")
	require.NotEmpty(t, img.Manifest.Programs, "image %s is of old rules: joy image build --profile %s", profile, profile)
	return slices.Clone(img.Manifest.Programs)
}
