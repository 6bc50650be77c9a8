package image

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

func realTiny(t *testing.T) Image {
	t.Helper()
	a := newTestArchive(t)
	a.addKernel(nil)
	a.addPrograms()
	img, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources()})
	require.NoError(t, err)
	return img
}
