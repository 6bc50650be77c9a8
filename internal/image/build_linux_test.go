package image

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
)

// leftovers lists what is in the cache's image directory that is not an image.
func leftovers(t *testing.T, cacheDir string) []string {
	t.Helper()
	entries, err := os.ReadDir(imagesDir(cacheDir))
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		if !hexDigest.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestBuildRefuses(t *testing.T) {
	const mods = "lib/modules/6.1.0-1/kernel/"
	tests := []struct {
		name   string
		kernel files // changes to a good kernel package
		want   string
	}{
		{"no kernel in the package", files{"boot/vmlinuz-6.1.0-1": nil}, "has no boot/vmlinuz"},
		{"module missing", files{mods + "drivers/block/virtio_blk.ko": nil}, "has no module virtio_blk"},
		{"dependency missing", files{mods + "fs/squashfs/squashfs.ko": module("depends=zlib-far")}, "has no module zlib_far"},
		{"dependency cycle", files{mods + "drivers/virtio/virtio_ring.ko": module("depends=virtio_pci")}, "depends on itself"},
		{"module is no ELF", files{mods + "fs/squashfs/squashfs.ko": []byte("text")}, "squashfs.ko: read the module"},
		{"module without modinfo", files{mods + "fs/squashfs/squashfs.ko": module("license=GPL")}, "says nothing of its dependencies"},
		{"unknown packing", files{mods + "fs/squashfs/squashfs.ko": nil, mods + "fs/squashfs/squashfs.ko.lzma": []byte("x")}, `unknown packing ".lzma"`},
		{"broken packing", files{mods + "fs/squashfs/squashfs.ko": nil, mods + "fs/squashfs/squashfs.ko.xz": []byte("x")}, "xz failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, cache := newTestArchive(t), t.TempDir()
			a.addKernel(tt.kernel)
			a.addPrograms()
			_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: cache, sources: a.sources()})
			require.ErrorContains(t, err, tt.want)
			require.Equal(t, fault.Platform, fault.KindOf(err))
			require.Empty(t, leftovers(t, cache))
			_, err = Latest(cache, "tiny")
			require.ErrorIs(t, err, ErrNotFound)
		})
	}
}

func TestBuildWithoutItsNeeds(t *testing.T) {
	t.Run("unknown profile", func(t *testing.T) {
		_, err := Build(t.Context(), Options{Profile: "huge", CacheDir: t.TempDir()})
		require.Equal(t, fault.Input, fault.KindOf(err))
	})
	t.Run("relative cache", func(t *testing.T) {
		_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: "cache"})
		require.Equal(t, fault.Input, fault.KindOf(err))
	})
	t.Run("no tools", func(t *testing.T) {
		_, err := Build(t.Context(), Options{Profile: "base", CacheDir: t.TempDir(), LookupEnv: func(string) (string, bool) { return "/nonexistent", true }})
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Contains(t, f.Hint, "sudo apt-get install apt dpkg squashfs-tools mmdebstrap")
	})
	t.Run("no room", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("mounting a small disk needs root")
		}
		a, small := newTestArchive(t), t.TempDir()
		a.addKernel(nil)
		a.addPrograms()
		require.NoError(t, unix.Mount("small", small, "tmpfs", 0, "size=64m"))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(small, 0)) })
		var said []string
		_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: small, sources: a.sources(), Progress: func(p Progress) { said = append(said, p.Phase) }})
		require.ErrorContains(t, err, "building image tiny takes 256 MiB below "+small+", which has 64 MiB free")
		require.Empty(t, said, "nothing is begun")
		require.Empty(t, leftovers(t, small))
	})
	t.Run("bad mirror", func(t *testing.T) {
		newTestArchive(t)
		_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), Mirror: "https://x.test/ y [trusted=yes]"})
		require.Equal(t, fault.Input, fault.KindOf(err))
	})
	t.Run("no archive", func(t *testing.T) {
		newTestArchive(t)
		_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), Mirror: "file:/nonexistent"})
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Contains(t, f.Hint, "--mirror")
	})
	t.Run("no package", func(t *testing.T) {
		a := newTestArchive(t)
		a.addKernel(nil)
		_, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources()})
		require.ErrorContains(t, err, "busybox-static")
	})
}

func TestBuildTiny(t *testing.T) {
	a := newTestArchive(t)
	a.addKernel(nil)
	a.addPrograms()
	var said []string
	o := Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources(), Progress: func(p Progress) { said = append(said, p.Phase) }}

	// What a killed build left is swept.
	require.NoError(t, os.MkdirAll(filepath.Join(imagesDir(o.CacheDir), stagePrefix+"dead", "x"), 0o755))
	img, err := Build(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, leftovers(t, o.CacheDir))
	require.NoError(t, Verify(img))
	require.Equal(t, "6.1.0-1", img.Manifest.Kernel)
	require.Equal(t, []string{ // by level; overlay and quota_v2 are built in
		"modules/00-squashfs.ko", "modules/00-virtio_pci_modern_dev.ko", "modules/00-virtio_ring.ko", "modules/01-virtio.ko",
		"modules/02-virtio_blk.ko", "modules/02-virtio_console.ko", "modules/02-virtio_pci.ko",
	}, img.Modules())
	require.Len(t, img.Manifest.Packages, 3)
	require.Len(t, img.Manifest.Packages[0].SHA256, 64)

	// It is there: nothing is built, and everything finds it.
	said = nil
	again, err := Build(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, []string{"image tiny is here already"}, said)
	require.Equal(t, img, again)
	latest, err := Latest(o.CacheDir, "tiny")
	require.NoError(t, err)
	require.Equal(t, img, latest)

	// Another cache, the same bytes; and forced, over an image that has been damaged meanwhile.
	o.CacheDir, o.Force = t.TempDir(), true
	other, err := Build(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, img.Manifest, other.Manifest)
	require.NoError(t, os.Chmod(other.Kernel(), 0o644))
	require.NoError(t, os.WriteFile(other.Kernel(), []byte("A kernel"), 0o644))
	require.ErrorContains(t, Verify(other), "kernel is sha256:")
	other, err = Build(t.Context(), o)
	require.NoError(t, err)
	require.NoError(t, Verify(other))
	require.Empty(t, leftovers(t, o.CacheDir))
}

func TestTinyRoot(t *testing.T) {
	a := newTestArchive(t)
	a.addKernel(nil)
	a.addPrograms()
	img, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources()})
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), "unsquashfs", "-lln", "-UTC", img.Root()).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, want := range []string{
		"drwxr-xr-x 0/0 2024-02-03 04:05 squashfs-root",
		"drwxrwxrwt 0/0 2024-02-03 04:05 squashfs-root/tmp",
		"drwx------ 0/0 2024-02-03 04:05 squashfs-root/root",
		"drwxr-xr-x 0/0 2024-02-03 04:05 squashfs-root/workspace",
		"-rwxr-xr-x 0/0 2024-02-03 04:05 squashfs-root/bin/bash", // Debian's, not an applet
		"lrwxrwxrwx 0/0 2024-02-03 04:05 squashfs-root/usr/bin/env -> /bin/busybox",
		"-rw-r--r-- 0/0 2024-02-03 04:05 squashfs-root/usr/share/doc/busybox-static/copyright",
	} {
		require.Contains(t, listing(string(out)), want)
	}
	require.NotContains(t, string(out), "escape")
	require.NotContains(t, string(out), "linuxrc")
	require.NotContains(t, string(out), "resolv.conf")
}

// listing drops the column of sizes from unsquashfs's lines.
func listing(out string) []string {
	var lines []string
	for _, l := range strings.Split(out, "\n") {
		if f := strings.Fields(l); len(f) > 3 {
			lines = append(lines, strings.Join(append(f[:2:2], f[3:]...), " "))
		}
	}
	return lines
}

func TestPackedModule(t *testing.T) {
	a := newTestArchive(t)
	xz := exec.CommandContext(t.Context(), "xz", "-c")
	xz.Stdin = strings.NewReader(string(module("depends=")))
	packed, err := xz.Output()
	if err != nil {
		t.Skip(err)
	}
	const ko = "lib/modules/6.1.0-1/kernel/fs/squashfs/squashfs.ko"
	a.addKernel(files{ko: nil, ko + ".xz": packed})
	a.addPrograms()
	img, err := Build(t.Context(), Options{Profile: "tiny", CacheDir: t.TempDir(), sources: a.sources()})
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(img.Dir, "modules/00-squashfs.ko"))
	require.NoError(t, err)
	require.Equal(t, module("depends="), got)
}

func TestBuildCancelled(t *testing.T) {
	a := newTestArchive(t)
	a.addKernel(nil)
	a.addPrograms()
	for _, at := range []string{"reading", "downloading", "taking", "packing"} {
		t.Run(at, func(t *testing.T) {
			cache := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			_, err := Build(ctx, Options{Profile: "tiny", CacheDir: cache, sources: a.sources(), Progress: func(p Progress) {
				if strings.HasPrefix(p.Phase, at) {
					cancel()
				}
			}})
			require.ErrorIs(t, err, context.Canceled)
			require.Empty(t, leftovers(t, cache))
		})
	}
}

func TestBuildsWaitForEachOther(t *testing.T) {
	newTestArchive(t)
	cache := t.TempDir()
	unlock, err := lock(t.Context(), filepath.Join(cache, "images.lock"), func() {})
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var said []string
	_, err = Build(ctx, Options{Profile: "tiny", CacheDir: cache, Progress: func(p Progress) {
		said = append(said, p.Phase)
		cancel()
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"waiting for another build"}, said)
}

func TestOldRulesAreRebuilt(t *testing.T) {
	cache := t.TempDir()
	put(t, cache, "tiny", func(m *Manifest) { m.Arch, m.Rules = runtime.GOARCH, Rules })
	_, ok := current(cache, "tiny", runtime.GOARCH)
	require.True(t, ok)
	put(t, cache, "tiny", func(m *Manifest) { m.Arch, m.Rules = runtime.GOARCH, Rules-1 })
	_, ok = current(cache, "tiny", runtime.GOARCH)
	require.False(t, ok)
}
