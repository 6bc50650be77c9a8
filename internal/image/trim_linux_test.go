package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var longAgo = time.Now().Add(-60 * 24 * time.Hour)

// aged makes an image that nothing means and that was used long ago.
func aged(t *testing.T, cache, kernel string) Image {
	t.Helper()
	img := put(t, cache, "tiny", func(m *Manifest) { m.Files[0].SHA256 = kernel })
	require.NoError(t, os.Remove(pointerPath(cache, "tiny")))
	require.NoError(t, os.Chtimes(img.Dir, longAgo, longAgo))
	return img
}

const someSum = "1111111111111111111111111111111111111111111111111111111111111111"

func options(cache string) TrimOptions {
	return TrimOptions{CacheDir: cache, Unused: time.Now().Add(-30 * 24 * time.Hour)}
}

func kinds(list []Leftover) (out []string) {
	for _, l := range list {
		out = append(out, l.Kind)
	}
	return out
}

func TestTrimKeeps(t *testing.T) {
	for name, keep := range map[string]func(t *testing.T, img Image, cache string){
		"what a profile means": func(t *testing.T, img Image, cache string) {
			require.NoError(t, point(cache, "tiny", img.Digest()))
		},
		"what was used of late": func(t *testing.T, img Image, _ string) {
			yesterday := time.Now().Add(-24 * time.Hour)
			require.NoError(t, os.Chtimes(img.Dir, yesterday, yesterday))
		},
		"what a run holds": func(t *testing.T, img Image, _ string) {
			release, err := Hold(img)
			require.NoError(t, err)
			t.Cleanup(release)
			require.NoError(t, os.Chtimes(img.Dir, longAgo, longAgo))
		},
		"what another process holds": func(t *testing.T, img Image, _ string) {
			f, err := os.Open(img.Dir)
			require.NoError(t, err)
			require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_SH))
			cmd := exec.CommandContext(t.Context(), "sleep", "60")
			cmd.ExtraFiles = []*os.File{f}
			require.NoError(t, cmd.Start())
			require.NoError(t, f.Close())
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		},
		"what is damaged": func(t *testing.T, img Image, _ string) {
			require.NoError(t, os.Remove(img.Kernel()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			img := aged(t, cache, someSum)
			keep(t, img, cache)
			list, err := Trim(t.Context(), options(cache))
			require.NoError(t, err)
			require.Empty(t, list)
			require.DirExists(t, img.Dir)
		})
	}
}

func TestTrimIsRefusedDuringABuild(t *testing.T) {
	cache := t.TempDir()
	aged(t, cache, someSum)
	unlock, err := lock(t.Context(), filepath.Join(cache, "images.lock"), func() {})
	require.NoError(t, err)
	_, err = Trim(t.Context(), options(cache))
	require.ErrorIs(t, err, ErrBuilding)
	unlock()
	list, err := Trim(t.Context(), options(cache))
	require.NoError(t, err)
	require.Equal(t, []string{"image"}, kinds(list))
}

func TestTrim(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "joy")
	list, err := Trim(t.Context(), options(cache))
	require.NoError(t, err)
	require.Empty(t, list)
	require.NoDirExists(t, cache, "looking makes nothing")

	old := aged(t, cache, someSum)
	live := put(t, cache, "base", nil)
	guest, err := Guest("amd64")
	if err == nil {
		_, err = InitrdPath(cache, live, guest)
		require.NoError(t, err)
	}
	for _, file := range []string{
		"initrd/" + someSum + ".cpio", "images/.stage-1/half", "apt/cache/a.deb", ".kvm-1", "initrd/.stage-2", "profiles/.stage-3", "profiles/.stage-new",
	} {
		path := filepath.Join(cache, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
		if !strings.Contains(file, "new") {
			require.NoError(t, os.Chtimes(path, longAgo, longAgo))
		}
	}
	o := options(cache)
	o.DryRun = true
	listed, err := Trim(t.Context(), o)
	require.NoError(t, err)
	require.DirExists(t, old.Dir, "a dry run removes nothing")
	o.DryRun = false
	done, err := Trim(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, listed, done)
	want := []string{"build", "image", "packages", "temporary", "temporary", "temporary"}
	if guest != nil {
		want = []string{"build", "image", "initrd", "packages", "temporary", "temporary", "temporary"}
	}
	require.Equal(t, want, kinds(done))
	require.Equal(t, old.Digest(), done[1].Name)
	require.Equal(t, old.Size(), done[1].Size)
	for _, l := range done {
		require.NoFileExists(t, filepath.Join(cache, l.Name))
	}
	require.FileExists(t, filepath.Join(cache, "profiles/.stage-new"), "somebody may be writing it")
	require.DirExists(t, live.Dir)
	again, err := Trim(t.Context(), o)
	require.NoError(t, err)
	require.Empty(t, again)
}

func TestHoldWhatIsGone(t *testing.T) {
	cache := t.TempDir()
	img := aged(t, cache, someSum)
	release, ok, err := claim(img)
	require.NoError(t, err)
	require.True(t, ok)
	_, err = Hold(img)
	require.ErrorIs(t, err, ErrNotFound, "it is being removed")
	require.NoError(t, Remove(cache, img.Digest()))
	release()
	_, err = Hold(img)
	require.ErrorIs(t, err, ErrNotFound)
}
