package image

import (
	"archive/tar"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// item is one entry of an archive.

// export gives the bytes of an image in a format.

// change replaces the data of the entry whose name ends in suffix.

// manifestSays changes the manifest and names the image anew, as somebody who means it would.

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
	require.ErrorContains(t, err, "not an ordinary file")
}

// realTiny is an image whose root is a real squashfs.

// fileOf is the name of the blob that holds a file of the image.

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
