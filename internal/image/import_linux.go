package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

func importImage(ctx context.Context, file string, o ImportOptions) (Imported, error) {
	in, err := openBundle(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return Imported{}, fault.Wrap(fault.Input, err, "import an image")
	}
	if err != nil {
		return Imported{}, badBundle(file, err)
	}
	defer in.close()
	m, place, err := in.image()
	if err != nil {
		return Imported{}, badBundle(file, err)
	}
	b := &builder{Options: Options{CacheDir: o.CacheDir, Progress: o.Progress, Log: io.Discard, LookupEnv: os.LookupEnv}}
	unlock, err := b.enter(ctx)
	if err != nil {
		return Imported{}, err
	}
	defer unlock()
	img, already := b.holds(m)
	if !already {
		if img, err = b.receive(ctx, file, in, m, place); err != nil {
			return Imported{}, err
		}
	}
	done := Imported{Image: img, Already: already}
	done.Current, err = b.adopt(img)
	return done, err
}

func badBundle(file string, err error) error {
	return fault.Wrap(fault.Input, err, "import an image").At(file, 0, 0).WithHint("joy image export IMAGE -o FILE writes what can be imported")
}

// holds gives the image of that manifest if it is here and whole.
func (b *builder) holds(m Manifest) (Image, bool) {
	img, err := Find(b.CacheDir, m.Digest)
	return img, err == nil && Verify(img) == nil
}

// receive copies the files into a stage, each checked as it comes, and makes the stage the image.
func (b *builder) receive(ctx context.Context, file string, in *bundle, m Manifest, place func(File) string) (Image, error) {
	var total int64
	for _, f := range m.Files {
		total += f.Size
	}
	if err := checkSpace("importing the image", []spaceNeed{{b.CacheDir, uint64(total)}}); err != nil {
		return Image{}, err
	}
	if err := b.openStage(); err != nil {
		return Image{}, err
	}
	defer os.RemoveAll(b.stage)
	at := phase(b.Progress, "importing image "+m.Profile+" "+m.Digest, total)
	for _, f := range m.Files {
		r, err := in.open(place(f))
		if err != nil {
			return Image{}, badBundle(file, err)
		}
		sum, err := b.stageFile(f.Name, at.count(whileAlive(ctx, r)))
		if ctx.Err() != nil {
			return Image{}, ctx.Err()
		}
		if err != nil {
			return Image{}, fault.Wrap(fault.Platform, err, "store image %s", m.Digest)
		}
		if sum != f.SHA256 {
			return Image{}, badBundle(file, fmt.Errorf("%s is sha256:%s, the manifest says sha256:%s", f.Name, sum, f.SHA256))
		}
	}
	img, err := b.seal(m)
	if err != nil {
		return Image{}, fault.Wrap(fault.Platform, err, "store image %s", m.Digest)
	}
	return img, nil
}

// stageFile writes one file of the stage. name is one a manifest may have: it leads nowhere else.
func (b *builder) stageFile(name string, r io.Reader) (sum string, err error) {
	path := filepath.Join(b.stage, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, h), r)
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// adopt lets the image's profile mean it where it means nothing, and says whether it does.
func (b *builder) adopt(img Image) (current bool, err error) {
	m := img.Manifest
	if Known(m.Profile) != nil || m.Arch != runtime.GOARCH {
		return false, nil
	}
	if now, err := Latest(b.CacheDir, m.Profile); err == nil {
		return now.Digest() == m.Digest, nil
	}
	if err := point(b.CacheDir, m.Profile, m.Digest); err != nil {
		return false, fault.Wrap(fault.Platform, err, "let profile %s mean image %s", m.Profile, strings.TrimPrefix(m.Digest, "sha256:"))
	}
	return true, nil
}
