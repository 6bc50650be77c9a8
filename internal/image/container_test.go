package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContainer(t *testing.T) {
	cache := t.TempDir()
	digest, container := "sha256:"+strings.Repeat("a", 64), "sha256:"+strings.Repeat("b", 64)
	img := Image{Manifest: Manifest{Digest: digest}}
	require.Empty(t, Container(cache, digest), "nothing was exported")
	require.NoError(t, KeepContainer(cache, img, container))
	require.Equal(t, container, Container(cache, digest))
	for _, name := range []string{"", "../" + digest, "tiny", "sha256:" + strings.Repeat("A", 64)} {
		require.Empty(t, Container(cache, name), "%q", name)
	}
	for _, text := range []string{"", "sha256:", container + "\n" + container, "sha512:" + strings.Repeat("b", 64)} {
		require.NoError(t, os.WriteFile(filepath.Join(cache, "containers", strings.Repeat("a", 64)), []byte(text), 0o600))
		require.Empty(t, Container(cache, digest), "%q", text)
	}
}
