package image

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// staleWrite is the age past which a half-written file is nobody's: writing one takes seconds.
const staleWrite = time.Hour

// trimmer is one clearing of a cache. It holds the build lock.
type trimmer struct {
	TrimOptions
	found []Leftover
	held  bool // a run holds an image
}

func trim(ctx context.Context, o TrimOptions) ([]Leftover, error) {
	if _, err := os.Stat(o.CacheDir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f, err := os.OpenFile(filepath.Join(o.CacheDir, "images.lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open the build lock")
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, fault.Wrap(fault.Platform, ErrBuilding, "clear the cache").WithHint("wait for joy image build to end")
	}
	t := &trimmer{TrimOptions: o}
	for _, part := range []func(context.Context) error{t.builds, t.images, t.initrds, t.packages, t.writes} {
		if err := errors.Join(part(ctx), ctx.Err()); err != nil {
			return t.found, fault.Wrap(fault.KindOf(err), err, "clear the cache")
		}
	}
	return t.found, nil
}

// builds are the stages of builds that were killed.
func (t *trimmer) builds(ctx context.Context) error {
	stages, err := filepath.Glob(filepath.Join(imagesDir(t.CacheDir), stagePrefix+"*"))
	if err != nil || len(stages) == 0 {
		return err
	}
	for _, stage := range stages {
		size := sizeOf(stage)
		if note, err := ordinary.Read(filepath.Join(stage, workNote), maxPointer); err == nil {
			size += sizeOf(string(note))
		}
		t.note("build", stage, size, time.Time{})
	}
	if t.DryRun {
		return nil
	}
	lookup := t.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	b := &builder{Options: Options{CacheDir: t.CacheDir, LookupEnv: lookup, Log: io.Discard, Progress: func(Progress) {}}}
	return b.sweep(ctx)
}

// images are those that no profile means, no run holds, and no run has used for long. Damaged ones are left to
// joy image rm: somebody may want to know why.
func (t *trimmer) images(context.Context) error {
	all, _ := List(t.CacheDir)
	meant := map[string]bool{}
	for _, profile := range Profiles {
		if p, err := readPointer(t.CacheDir, profile); err == nil {
			meant[p.Digest] = true
		}
	}
	for _, img := range all {
		if err := t.image(img, meant[img.Digest()]); err != nil {
			return err
		}
	}
	return nil
}

func (t *trimmer) image(img Image, meant bool) error {
	release, ok, err := claim(img)
	if err != nil {
		return err
	}
	if !ok {
		t.held = true
		return nil
	}
	defer release()
	info, err := os.Stat(img.Dir)
	if err != nil || meant || info.ModTime().After(t.Unused) {
		return err
	}
	t.found = append(t.found, Leftover{Kind: "image", Name: img.Digest(), Size: img.Size(), Used: stamp(info.ModTime())})
	if t.DryRun {
		return nil
	}
	return Remove(t.CacheDir, img.Digest())
}

// initrds are those of images that are gone and of other joys. While a run holds an image they stay: one of them may be
// what it is about to boot from.
func (t *trimmer) initrds(context.Context) error {
	guest, err := Guest(runtime.GOARCH)
	if err != nil || t.held {
		return nil //nolint:nilerr // without a joy-guest of its own this joy cannot tell which are needed
	}
	needed := map[string]bool{}
	all, _ := List(t.CacheDir)
	for _, img := range all {
		if !t.gone(img) {
			needed[initrdName(t.CacheDir, img, guest)] = true
		}
	}
	files, err := filepath.Glob(filepath.Join(t.CacheDir, "initrd", "*.cpio"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if needed[file] {
			continue
		}
		if err := t.remove("initrd", file); err != nil {
			return err
		}
	}
	return nil
}

// gone says whether the image is one that a dry run has only listed.
func (t *trimmer) gone(img Image) bool {
	for _, l := range t.found {
		if l.Kind == "image" && l.Name == img.Digest() {
			return true
		}
	}
	return false
}

// packages are Debian's index and what was fetched of it; the next build fetches them again.
func (t *trimmer) packages(context.Context) error {
	path := filepath.Join(t.CacheDir, "apt")
	if _, err := os.Lstat(path); err != nil {
		return nil //nolint:nilerr // nothing was built here yet
	}
	return t.remove("packages", path)
}

// writes are files that were never finished.
func (t *trimmer) writes(context.Context) error {
	for _, pattern := range []string{".kvm-*", "initrd/" + stagePrefix + "*", "profiles/" + stagePrefix + "*"} {
		files, err := filepath.Glob(filepath.Join(t.CacheDir, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			info, err := os.Lstat(file)
			if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < staleWrite {
				continue
			}
			if err := t.remove("temporary", file); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove notes what lies at path and, unless it is only to be listed, removes it.
func (t *trimmer) remove(kind, path string) error {
	var used time.Time
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		used = info.ModTime()
	}
	t.note(kind, path, sizeOf(path), used)
	if t.DryRun {
		return nil
	}
	return os.RemoveAll(path)
}

func (t *trimmer) note(kind, path string, size int64, used time.Time) {
	name := strings.TrimPrefix(path, t.CacheDir+string(filepath.Separator))
	t.found = append(t.found, Leftover{Kind: kind, Name: filepath.ToSlash(name), Size: size, Used: stamp(used)})
}

func stamp(when time.Time) string {
	if when.IsZero() {
		return ""
	}
	return when.UTC().Format(time.RFC3339)
}

// sizeOf is what a file or a tree occupies, in bytes; what cannot be read counts as nothing.
func sizeOf(path string) (size int64) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // see above
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}
