package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/config"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
)

// An image whose bytes are no longer those of its digest is drift, whatever its size and times say.
func TestAnImageThatDiffersFromItsPin(t *testing.T) {
	a, _, _ := testApp(t)
	a.cfg = &config.Config{Dirs: config.Dirs{Cache: t.TempDir()}}
	m := image.Manifest{
		Schema: image.Schema, Profile: "tiny", Arch: "amd64", Rules: image.Rules, Kernel: "6.1", Packages: []image.Package{},
	}
	for _, name := range []string{image.KernelFile, image.RootFile} {
		hex := strings.TrimPrefix(digest.Bytes([]byte("good")), "sha256:")
		m.Files = append(m.Files, image.File{Name: name, Size: 4, SHA256: hex})
	}
	m.Digest = m.ID()
	text, err := json.MarshalIndent(m, "", "  ")
	require.NoError(t, err)
	dir := filepath.Join(a.cfg.Dirs.Cache, "images", strings.TrimPrefix(m.Digest, "sha256:"))
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for name, data := range map[string][]byte{
		"manifest.json": append(text, '\n'), image.KernelFile: []byte("good"), image.RootFile: []byte("good"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	require.NoError(t, a.imageIsHere(m.Digest, "tiny"))

	for _, name := range []string{image.KernelFile, image.RootFile} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 4), 0o600))
		require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		err = a.imageIsHere(m.Digest, "tiny")
		require.ErrorContains(t, err, name+" is sha256:")
		require.Equal(t, fault.Drift, fault.KindOf(err))
		require.NoError(t, os.WriteFile(path, []byte("good"), 0o600))
	}
}
