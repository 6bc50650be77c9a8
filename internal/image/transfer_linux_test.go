package image

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// item is one entry of an archive.
type item struct {
	name string
	data []byte
	head func(*tar.Header) // changes the header; nil = an ordinary file
}

func readItems(t *testing.T, archive []byte) (items []item) {
	t.Helper()
	for tr := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return items
		}
		require.NoError(t, err)
		data, err := io.ReadAll(tr)
		require.NoError(t, err)
		items = append(items, item{name: h.Name, data: data})
	}
}

func writeItems(t *testing.T, items []item) []byte {
	t.Helper()
	var b bytes.Buffer
	tw := tar.NewWriter(&b)
	for _, i := range items {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: i.name, Size: int64(len(i.data)), Mode: 0o644}
		if i.head != nil {
			i.head(h)
		}
		require.NoError(t, tw.WriteHeader(h))
		if h.Typeflag == tar.TypeReg {
			_, err := tw.Write(i.data)
			require.NoError(t, err)
		}
	}
	require.NoError(t, tw.Flush())
	return b.Bytes()
}

// export gives the bytes of an image in a format.
func export(t *testing.T, img Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Export(t.Context(), img, &b, ExportOptions{Format: format, TempDir: t.TempDir()}))
	return b.Bytes()
}

func importBytes(t *testing.T, cache string, archive []byte) (Imported, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	return Import(t.Context(), file, ImportOptions{CacheDir: cache})
}

// change replaces the data of the entry whose name ends in suffix.
func change(suffix string, data func([]byte) []byte) func([]item) []item {
	return func(items []item) []item {
		for i := range items {
			if strings.HasSuffix(items[i].name, suffix) {
				items[i].data = data(bytes.Clone(items[i].data))
			}
		}
		return items
	}
}

func flip(b []byte) []byte { b[len(b)/2] ^= 1; return b }

func drop(suffix string) func([]item) []item {
	return func(items []item) (out []item) {
		for _, i := range items {
			if !strings.HasSuffix(i.name, suffix) {
				out = append(out, i)
			}
		}
		return out
	}
}

func add(extra ...item) func([]item) []item {
	return func(items []item) []item { return append(items, extra...) }
}

// manifestSays changes the manifest and names the image anew, as somebody who means it would.
func manifestSays(t *testing.T, change func(*Manifest)) func([]item) []item {
	t.Helper()
	return func(items []item) []item {
		var m Manifest
		require.NoError(t, json.Unmarshal(items[0].data, &m))
		change(&m)
		m.Digest = m.ID()
		var err error
		items[0].data, err = m.encode()
		require.NoError(t, err)
		return items
	}
}

func link(kind byte, to string) func(*tar.Header) {
	return func(h *tar.Header) { h.Typeflag, h.Linkname, h.Size = kind, to, 0 }
}

func TestImportRefusesFile(t *testing.T) {
	img := put(t, t.TempDir(), "tiny", nil)
	good := export(t, img, FormatFile)
	tests := []struct {
		name   string
		change func([]item) []item
		want   string
	}{
		{"no manifest", drop("manifest.json"), "neither manifest.json nor oci-layout"},
		{"manifest is text", change("manifest.json", func([]byte) []byte { return []byte("hello") }), "read the manifest"},
		{"docker's manifest", change("manifest.json", func([]byte) []byte { return []byte(`[{"Config":"x"}]`) }), "read the manifest"},
		{"manifest changed", change("manifest.json", func(b []byte) []byte { return bytes.Replace(b, []byte("amd64"), []byte("arm64"), 1) }), "its files make it"},
		{"file missing", drop(RootFile), "the archive has no root.squashfs"},
		{"file changed", change(KernelFile, flip), "kernel is sha256:"},
		{"file longer", change(RootFile, func(b []byte) []byte { return append(b, 0) }), "root.squashfs has 5 bytes, the manifest says 4"},
		{"file twice", add(item{name: KernelFile}), `"kernel" is in the archive twice`},
		{"escape", add(item{name: "../kernel"}), `the name "../kernel"`},
		{"escape inside", add(item{name: "modules/../../x"}), `the name "modules/../../x"`},
		{"absolute", add(item{name: "/etc/passwd"}), `the name "/etc/passwd"`},
		{"unclean", add(item{name: "./manifest.json"}), `the name "./manifest.json"`},
		{"symlink", add(item{name: "x", head: link(tar.TypeSymlink, "/etc/passwd")}), `"x" in the archive is no ordinary file`},
		{"hard link", add(item{name: "x", head: link(tar.TypeLink, KernelFile)}), "no ordinary file"},
		{"device", add(item{name: "x", head: link(tar.TypeChar, "")}), "no ordinary file"},
		{"file elsewhere", manifestSays(t, func(m *Manifest) { m.Files[0].Name = "../../../x" }), "bad file name"},
		{"giant file", manifestSays(t, func(m *Manifest) { m.Files[0].Size = 1 << 50 }), "kernel has 14 bytes, the manifest says"},
		{"giant entry", add(item{name: "x", head: func(h *tar.Header) { h.Size = 1 << 50 }}), "cut off"},
		{"terminal codes", manifestSays(t, func(m *Manifest) { m.Packages = []Package{{Name: "a\x1b[2J"}} }), "bad text"},
		{"programs out of order", manifestSays(t, func(m *Manifest) { m.Programs = []string{"b", "a"} }), "out of order"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			items := tt.change(readItems(t, good))
			var archive []byte
			if tt.name == "giant entry" { // a header that nothing follows
				archive = giant(t, items)
			} else {
				archive = writeItems(t, items)
			}
			refused(t, cache, archive, tt.want)
		})
	}
}

// giant writes the items with the last one's header alone.
func giant(t *testing.T, items []item) []byte {
	t.Helper()
	head := writeItems(t, items[:len(items)-1])
	var b bytes.Buffer
	b.Write(head)
	require.NoError(t, tar.NewWriter(&b).WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "x", Size: 1 << 50}))
	return b.Bytes()
}

func refused(t *testing.T, cache string, archive []byte, want string) {
	t.Helper()
	_, err := importBytes(t, cache, archive)
	require.ErrorContains(t, err, want)
	require.Equal(t, fault.Input, fault.KindOf(err))
	if _, err := os.Stat(imagesDir(cache)); err == nil {
		require.Empty(t, leftovers(t, cache))
	}
	images, err := List(cache)
	require.NoError(t, err)
	require.Empty(t, images)
}

func TestImportRefusesWhatIsNoArchive(t *testing.T) {
	good := export(t, put(t, t.TempDir(), "tiny", nil), FormatFile)
	for name, tc := range map[string]struct {
		archive []byte
		want    string
	}{
		"empty":      {nil, "neither manifest.json"},
		"text":       {[]byte(strings.Repeat("hello world ", 100)), "not an archive of an image"},
		"gzip":       {append([]byte("\x1f\x8b\x08"), good...), "use gunzip first"},
		"zstd":       {append([]byte("\x28\xb5\x2f\xfd"), good...), "use unzstd first"},
		"xz":         {append([]byte("\xfd7zXZ\x00"), good...), "use unxz first"},
		"half":       {good[:len(good)/2], "cut off"},
		"no trailer": {good[:1536], "has no"},
		"in a name":  {good[:700], "cut off"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, t.TempDir(), tc.archive, tc.want) })
	}
	_, err := Import(t.Context(), filepath.Join(t.TempDir(), "absent"), ImportOptions{CacheDir: t.TempDir()})
	require.Equal(t, fault.Input, fault.KindOf(err))
	_, err = Import(t.Context(), t.TempDir(), ImportOptions{CacheDir: t.TempDir()})
	require.ErrorContains(t, err, "not a regular file")
}

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

// realTiny is an image whose root is a real squashfs.
func realTiny(t *testing.T) Image {
	t.Helper()
	a := newTestArchive(t)
	a.addKernel(nil)
	a.addPrograms()
	img, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources()})
	require.NoError(t, err)
	return img
}

// fileOf is the name of the blob that holds a file of the image.
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

func TestTransfer(t *testing.T) {
	img := realTiny(t)
	for _, format := range Formats {
		t.Run(format, func(t *testing.T) {
			archive, cache := export(t, img, format), t.TempDir()
			require.Equal(t, archive, export(t, img, format), "the same image, the same bytes")
			got, err := importBytes(t, cache, archive)
			require.NoError(t, err)
			require.False(t, got.Already)
			require.True(t, got.Current)
			require.Equal(t, img.Manifest, got.Image.Manifest)
			require.NoError(t, Verify(got.Image))
			require.Empty(t, leftovers(t, cache))

			// Again: nothing happens. Damaged: it is mended.
			before, err := os.Stat(got.Image.Root())
			require.NoError(t, err)
			again, err := importBytes(t, cache, archive)
			require.NoError(t, err)
			require.True(t, again.Already)
			after, err := os.Stat(again.Image.Root())
			require.NoError(t, err)
			require.Equal(t, before.ModTime(), after.ModTime())
			require.True(t, os.SameFile(before, after))
			require.NoError(t, os.Chmod(got.Image.Kernel(), 0o644))
			require.NoError(t, os.WriteFile(got.Image.Kernel(), []byte("A kernel"), 0o644))
			again, err = importBytes(t, cache, archive)
			require.NoError(t, err)
			require.False(t, again.Already)
			require.NoError(t, Verify(again.Image))
		})
	}
}

// What a profile means here is not for a file to change.
func TestImportKeepsProfiles(t *testing.T) {
	cache := t.TempDir()
	here := put(t, cache, "tiny", nil)
	other := put(t, t.TempDir(), "tiny", func(m *Manifest) { m.Arch = runtime.GOARCH; m.Files[1].Name = "modules/01-virtio.ko" })
	require.NoError(t, os.Rename(filepath.Join(other.Dir, "modules/00-virtio.ko"), filepath.Join(other.Dir, "modules/01-virtio.ko")))
	got, err := importBytes(t, cache, export(t, other, FormatFile))
	require.NoError(t, err)
	require.False(t, got.Current)
	now, err := Latest(cache, "tiny")
	require.NoError(t, err)
	require.Equal(t, here.Digest(), now.Digest())
	found, err := Find(cache, other.Digest())
	require.NoError(t, err)
	require.NoError(t, Verify(found))
}

func TestExportRefuses(t *testing.T) {
	img := put(t, t.TempDir(), "tiny", nil)
	var out bytes.Buffer
	err := Export(t.Context(), img, &out, ExportOptions{Format: "docker"})
	require.Equal(t, fault.Input, fault.KindOf(err))
	err = Export(t.Context(), img, &out, ExportOptions{Format: FormatOCI, TempDir: t.TempDir()})
	require.ErrorContains(t, err, "superblock", "its root is text")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Export(ctx, img, &out, ExportOptions{}), context.Canceled)
	out.Reset()
	require.NoError(t, os.WriteFile(img.Root(), []byte("ROOT"), 0o644))
	err = Export(t.Context(), img, &out, ExportOptions{})
	require.Equal(t, fault.Drift, fault.KindOf(err))
	require.Zero(t, out.Len())
}

func TestImportCancelled(t *testing.T) {
	archive, cache := export(t, realTiny(t), FormatFile), t.TempDir()
	file := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(file, archive, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Import(ctx, file, ImportOptions{CacheDir: cache, Progress: func(p Progress) {
		if p.Done > 0 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, leftovers(t, cache))
}

// The container image of an OCI archive is one for everybody: another implementation finds nothing wrong with it.
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
