package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

func TestImportRefusesOCI(t *testing.T) {
	good := export(t, realTiny(t), FormatOCI)
	var index v1.IndexManifest
	for _, i := range readItems(t, good) {
		if i.name == indexFile {
			require.NoError(t, json.Unmarshal(i.data, &index))
		}
	}
	artifact := index.Manifests[1].Digest.Hex
	noArtifact, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, Manifests: index.Manifests[:1]})
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		change func([]item) []item
		want   string
	}{
		"no index":         {drop(indexFile), "the archive has no index.json"},
		"index is text":    {change(indexFile, func([]byte) []byte { return []byte("x") }), "read index.json"},
		"of somebody else": {change(indexFile, func([]byte) []byte { return noArtifact }), "only what joy image export wrote"},
		"no artifact":      {drop(artifact), "the archive has no blobs/sha256/" + artifact},
		"artifact changed": {change(artifact, flip), "blob sha256:" + artifact + " is sha256:"},
		"digest is a path": {change(indexFile, func(b []byte) []byte {
			return bytes.Replace(b, []byte("sha256:"+artifact), []byte("sha256:../../../etc/passwd"), 1)
		}), "read index.json"},
		"root changed": {change(fileOf(t, good, RootFile), flip), "root.squashfs is sha256:"},
		"root missing": {drop(fileOf(t, good, RootFile)), "the archive has no root.squashfs"},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, t.TempDir(), writeItems(t, tc.change(readItems(t, good))), tc.want)
		})
	}
}

func fileOf(t *testing.T, archive []byte, name string) string {
	t.Helper()
	for _, i := range readItems(t, archive) {
		var m v1.Manifest
		if json.Unmarshal(i.data, &m) != nil {
			continue
		}
		for _, l := range m.Layers {
			if l.Annotations["org.opencontainers.image.title"] == name {
				return l.Digest.Hex
			}
		}
	}
	t.Fatalf("no %s in the archive", name)
	return ""
}

func TestOCIArchive(t *testing.T) {
	img := realTiny(t)
	dir := t.TempDir()
	for _, i := range readItems(t, export(t, img, FormatOCI)) {
		path := filepath.Join(dir, filepath.FromSlash(i.name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, i.data, 0o600))
	}
	index, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	im, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, im.Manifests, 2)
	require.Equal(t, "localhost/joy/tiny:"+img.Digest()[7:19], im.Manifests[0].Annotations["io.containerd.image.name"])
	container, err := index.Image(im.Manifests[0].Digest)
	require.NoError(t, err)
	require.NoError(t, validate.Image(container))
	config, err := container.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, img.Digest(), config.Config.Labels[labelDigest])
	require.Equal(t, runtime.GOARCH, config.Architecture)
	layers, err := container.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 1)
	r, err := layers[0].Uncompressed()
	require.NoError(t, err)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	names := map[string]byte{}
	for tr := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names[h.Name] = h.Typeflag
	}
	require.EqualValues(t, tar.TypeReg, names["bin/bash"])
	require.EqualValues(t, tar.TypeSymlink, names["usr/bin/env"])
	require.EqualValues(t, tar.TypeDir, names["workspace/"])
}
