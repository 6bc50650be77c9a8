package image

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// builder is one build in progress. Its stage is a directory in the cache that becomes the image by being renamed.
type builder struct {
	Options
	arch     string
	stage    string
	packages []Package
	leftOut  []LeftOut
	programs []string
	release  string // of the kernel
}

func build(ctx context.Context, o Options) (Image, error) {
	b := &builder{Options: o, arch: runtime.GOARCH}
	if b.arch != "amd64" && b.arch != "arm64" {
		return Image{}, fault.New(fault.Platform, "no local VM images for %s", b.arch).WithHint("joy run --sandbox e2b works here")
	}
	unlock, err := b.enter(ctx)
	if err != nil {
		return Image{}, err
	}
	defer unlock()
	if !o.Force {
		if img, ok := current(o.CacheDir, o.Profile, b.arch); ok {
			phase(o.Progress, "image "+o.Profile+" is here already", 0)
			return img, nil
		}
	}
	if err := b.prepare(); err != nil {
		return Image{}, err
	}
	if err := b.openStage(); err != nil {
		return Image{}, err
	}
	defer os.RemoveAll(b.stage)
	if err := b.fill(ctx); err != nil {
		if ctx.Err() != nil {
			return Image{}, ctx.Err()
		}
		return Image{}, err
	}
	return b.commit()
}

// enter makes the cache ready and this process the only one that writes to it, until unlock.
func (b *builder) enter(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(imagesDir(b.CacheDir), 0o755); err != nil {
		return nil, fault.Wrap(fault.Platform, err, "make the image cache")
	}
	unlock, err = lock(ctx, filepath.Join(b.CacheDir, "images.lock"), func() { phase(b.Progress, "waiting for another build", 0) })
	if err != nil {
		return nil, err
	}
	if err := b.sweep(ctx); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// openStage makes the stage. The caller removes it.
func (b *builder) openStage() (err error) {
	if b.stage, err = os.MkdirTemp(imagesDir(b.CacheDir), stagePrefix); err != nil {
		return fault.Wrap(fault.Platform, err, "make a directory to build in")
	}
	return nil
}

// fill makes the image's files in the stage.
func (b *builder) fill(ctx context.Context) error {
	a, err := openArchive(ctx, b)
	if err != nil {
		return err
	}
	phase(b.Progress, "reading the package index", 0)
	if err := a.update(ctx); err != nil {
		return err
	}
	if err := b.kernel(ctx, a); err != nil {
		return err
	}
	if b.Profile == "tiny" {
		return b.tinyRoot(ctx, a)
	}
	return b.debianRoot(ctx, a, recipes[b.Profile])
}

// commit names what is in the stage, makes it durable and puts it where Find looks.
func (b *builder) commit() (Image, error) {
	m := Manifest{
		Schema: Schema, Profile: b.Profile, Arch: b.arch, Rules: Rules, Kernel: b.release,
		Packages: b.packages, LeftOut: b.leftOut, Programs: b.programs,
	}
	sort.Slice(m.Packages, func(i, j int) bool { return m.Packages[i].Name < m.Packages[j].Name })
	img, err := b.seal(m)
	if err == nil {
		err = point(b.CacheDir, b.Profile, img.Digest())
	}
	if err != nil {
		return Image{}, fault.Wrap(fault.Platform, err, "store image %s", b.Profile)
	}
	return img, nil
}

// seal makes the stage the image that m describes; its files are what lies there.
func (b *builder) seal(m Manifest) (Image, error) {
	var err error
	if m.Files, err = stageFiles(b.stage); err != nil {
		return Image{}, err
	}
	m.Digest = m.ID()
	text, err := m.encode()
	if err != nil {
		return Image{}, err
	}
	if _, err = decodeManifest(text); err != nil {
		return Image{}, err
	}
	if err = os.WriteFile(filepath.Join(b.stage, manifestFile), text, 0o444); err != nil {
		return Image{}, err
	}
	if err = os.Chmod(b.stage, 0o755); err != nil { // an image holds no secret, and QEMU may run as another user
		return Image{}, err
	}
	dir := filepath.Join(imagesDir(b.CacheDir), strings.TrimPrefix(m.Digest, "sha256:"))
	if err := settle(b.stage, dir, text); err != nil {
		return Image{}, err
	}
	return open(dir)
}

// stageFiles lists, sizes and digests the files of the stage, and makes them durable and read-only.
func stageFiles(stage string) ([]File, error) {
	var files []File
	for _, pattern := range []string{KernelFile, "modules/*.ko", RootFile} {
		paths, err := filepath.Glob(filepath.Join(stage, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths { // Glob sorts
			sum, size, err := sumFile(path)
			if err != nil {
				return nil, err
			}
			if err := syncReadOnly(path); err != nil {
				return nil, err
			}
			name, err := filepath.Rel(stage, path)
			if err != nil {
				return nil, err
			}
			files = append(files, File{Name: name, Size: size, SHA256: sum})
		}
	}
	return files, nil
}

func syncReadOnly(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Chmod(0o444); err != nil {
		return err
	}
	return f.Sync()
}

// settle puts the stage where the image belongs. An image that is there and whole stays: it may be running. Only its
// manifest is replaced where this one says more.
func settle(stage, dir string, manifest []byte) error {
	img, err := open(dir)
	if err != nil || Verify(img) != nil {
		return place(stage, dir)
	}
	if old, err := img.Manifest.encode(); err != nil || bytes.Equal(old, manifest) {
		return err
	}
	return writeAtomic(filepath.Join(dir, manifestFile), 0o444, func(w io.Writer) error {
		_, err := w.Write(manifest)
		return err
	})
}

// place renames the stage to dir. What lay there was damaged: it is swept by the next build if this one cannot.
func place(stage, dir string) error {
	old := filepath.Join(filepath.Dir(dir), stagePrefix+"damaged-"+filepath.Base(dir))
	if err := os.Rename(dir, old); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Rename(stage, dir); err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := parent.Sync(); err != nil {
		return err
	}
	return os.RemoveAll(old)
}
