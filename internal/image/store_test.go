package image

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// put writes a small image into the cache and points its profile at it; change is applied to the manifest before it
// is named.
func put(t *testing.T, cacheDir, profile string, change func(*Manifest)) Image {
	t.Helper()
	content := map[string]string{KernelFile: "kernel of " + profile, "modules/00-virtio.ko": "module", RootFile: "root"}
	tmp := t.TempDir()
	m := Manifest{Schema: Schema, Profile: profile, Arch: "amd64", Rules: Rules, Kernel: "6.1", Packages: []Package{}}
	for _, name := range []string{KernelFile, "modules/00-virtio.ko", RootFile} {
		path := filepath.Join(tmp, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content[name]), 0o644))
		sum, size, err := sumFile(path)
		require.NoError(t, err)
		m.Files = append(m.Files, File{name, size, sum})
	}
	if change != nil {
		change(&m)
	}
	m.Digest = m.ID()
	text, err := m.encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(tmp, manifestFile), text, 0o644))
	dir := filepath.Join(imagesDir(cacheDir), strings.TrimPrefix(m.Digest, "sha256:"))
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.CopyFS(dir, os.DirFS(tmp)))
	p, err := json.Marshal(pointer{pointerSchema, m.Digest})
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(pointerPath(cacheDir, profile)), 0o755))
	require.NoError(t, os.WriteFile(pointerPath(cacheDir, profile), p, 0o644))
	return Image{dir, m}
}

func TestFindRefuses(t *testing.T) {
	missing := "sha256:" + strings.Repeat("0", 64)
	for _, bad := range []string{"", "base", "sha256:", "sha256:../../etc", missing[7:], strings.ToUpper(missing)} {
		_, err := Find(t.TempDir(), bad)
		require.Equal(t, fault.Input, fault.KindOf(err), bad)
	}
	_, err := Find(t.TempDir(), missing)
	require.ErrorIs(t, err, ErrNotFound)
	require.Equal(t, fault.Platform, fault.KindOf(err))
}

func TestDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(dir string) error
		found  bool // only Verify sees it
	}{
		{"kernel cut short", func(d string) error { return os.Truncate(filepath.Join(d, KernelFile), 3) }, false},
		{"root gone", func(d string) error { return os.Remove(filepath.Join(d, RootFile)) }, false},
		{"manifest gone", func(d string) error { return os.Remove(filepath.Join(d, manifestFile)) }, false},
		{"manifest unreadable", func(d string) error { return os.WriteFile(filepath.Join(d, manifestFile), []byte("{"), 0o644) }, false},
		{"kernel is a directory", func(d string) error { return replaceByDir(filepath.Join(d, KernelFile)) }, false},
		{"byte changed", func(d string) error { return os.WriteFile(filepath.Join(d, RootFile), []byte("toor"), 0o644) }, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cache := t.TempDir()
			img := put(t, cache, "base", nil)
			require.NoError(t, Verify(img))
			require.NoError(t, tt.damage(img.Dir))
			got, err := Find(cache, img.Digest())
			if tt.found {
				require.NoError(t, err)
				err = Verify(got)
			}
			require.Equal(t, fault.Drift, fault.KindOf(err))
		})
	}
}

// An image under another's name is not that other image.
func TestNameIsTheDigest(t *testing.T) {
	cache, other := t.TempDir(), strings.Repeat("0", 64)
	img := put(t, cache, "base", nil)
	require.NoError(t, os.Rename(img.Dir, filepath.Join(imagesDir(cache), other)))
	_, err := Find(cache, "sha256:"+other)
	require.Equal(t, fault.Drift, fault.KindOf(err))
	require.ErrorContains(t, err, img.Digest())
}

func replaceByDir(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Mkdir(path, 0o755)
}

func TestListLatestRemove(t *testing.T) {
	cache := t.TempDir()
	none, err := List(cache)
	require.NoError(t, err)
	require.Empty(t, none)

	tiny, base := put(t, cache, "tiny", nil), put(t, cache, "base", nil)
	bad := put(t, cache, "base", func(m *Manifest) { m.Files[0].Size++ })
	images, err := List(cache)
	require.Equal(t, []Image{base, tiny}, images)
	require.ErrorContains(t, err, bad.Digest())

	_, err = Latest(cache, "base") // points at the bad one
	require.Equal(t, fault.Drift, fault.KindOf(err))
	got, err := Latest(cache, "tiny")
	require.NoError(t, err)
	require.Equal(t, tiny, got)
	_, err = Latest(cache, "../tiny")
	require.Equal(t, fault.Input, fault.KindOf(err))
	require.NoError(t, os.WriteFile(pointerPath(cache, "tiny"), []byte(`{"schema":"other"}`), 0o644))
	_, err = Latest(cache, "tiny")
	require.ErrorContains(t, err, "not a pointer")

	require.NoError(t, Remove(cache, bad.Digest()))
	require.NoError(t, Remove(cache, tiny.Digest()))
	require.ErrorIs(t, Remove(cache, tiny.Digest()), ErrNotFound)
	require.Equal(t, fault.Input, fault.KindOf(Remove(cache, "../images")))
	images, err = List(cache)
	require.NoError(t, err)
	require.Equal(t, []Image{base}, images)
}

func TestResolve(t *testing.T) {
	cache := t.TempDir()
	tiny := put(t, cache, "tiny", nil)
	hex := strings.TrimPrefix(tiny.Digest(), "sha256:")
	for _, name := range []string{"tiny", tiny.Digest(), hex, hex[:8], "sha256:" + hex[:12]} {
		img, err := Resolve(cache, name)
		require.NoError(t, err, name)
		require.Equal(t, tiny, img, name)
	}
	for name, kind := range map[string]fault.Kind{
		hex[:7]: fault.Input, "huge": fault.Input, "": fault.Input, "../tiny": fault.Input,
		"base": fault.Platform, "0000000000": fault.Platform,
	} {
		_, err := Resolve(cache, name)
		require.Error(t, err, name)
		require.Equal(t, kind, fault.KindOf(err), name)
	}
	require.NoError(t, Remove(cache, tiny.Digest()))
	_, err := Latest(cache, "tiny")
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, "find image tiny", "the pointer went with it")
}

func TestDefaultCacheDir(t *testing.T) {
	env := map[string]string{"HOME": t.TempDir()}
	dir, err := DefaultCacheDir(func(k string) string { return env[k] })
	require.NoError(t, err)
	require.Equal(t, filepath.Join(env["HOME"], ".cache", "joy"), dir)
	env["XDG_CACHE_HOME"] = "relative" // is to be ignored
	same, err := DefaultCacheDir(func(k string) string { return env[k] })
	require.NoError(t, err)
	require.Equal(t, dir, same)
	env["XDG_CACHE_HOME"] = t.TempDir()
	dir, err = DefaultCacheDir(func(k string) string { return env[k] })
	require.NoError(t, err)
	require.Equal(t, filepath.Join(env["XDG_CACHE_HOME"], "joy"), dir)
}
