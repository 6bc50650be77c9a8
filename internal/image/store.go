package image

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// ErrNotFound is in the tree of every error that means the image is not in the cache.
var ErrNotFound = errors.New("not in the cache")

// maxPointer caps a profile's pointer file, in bytes.
const maxPointer = 4 << 10

// pointer is profiles/NAME.json: which image a profile means on this machine.
type pointer struct {
	Schema string `json:"schema"` // joy.image-profile/1
	Digest string `json:"digest"`
}

const pointerSchema = "joy.image-profile/1"

func imagesDir(cacheDir string) string { return filepath.Join(cacheDir, "images") }

func pointerPath(cacheDir, profile string) string {
	return filepath.Join(cacheDir, "profiles", profile+".json")
}

// Find gives the image of that digest (sha256:…) after a look at the manifest and at the sizes of the files; Verify
// reads them. An image that is not there is an error with ErrNotFound in its tree, a damaged one of kind drift.
func Find(cacheDir, digest string) (Image, error) {
	if !namedImage.MatchString(digest) {
		return Image{}, fault.New(fault.Input, "bad image digest %q", digest).
			WithHint("joy image list shows the digests of the images that are here")
	}
	img, err := open(filepath.Join(imagesDir(cacheDir), strings.TrimPrefix(digest, "sha256:")))
	switch {
	case err == nil:
		return img, nil
	case errors.Is(err, fs.ErrNotExist):
		if _, gone := os.Stat(filepath.Join(imagesDir(cacheDir), strings.TrimPrefix(digest, "sha256:"))); gone != nil {
			return Image{}, fault.Wrap(fault.Platform, ErrNotFound, "find image %s", digest).
				WithHint("joy image build makes one; joy image list shows what is here")
		}
	}
	return Image{}, damaged(digest, err)
}

func damaged(digest string, err error) error {
	return fault.Wrap(fault.Drift, err, "image %s is damaged", digest).
		WithHint("joy image rm %s, then joy image build", digest)
}

// Latest gives the image that profile means on this machine: the last one Build made or found for it.
func Latest(cacheDir, profile string) (Image, error) {
	if err := Known(profile); err != nil {
		return Image{}, err
	}
	p, err := readPointer(cacheDir, profile)
	if errors.Is(err, fs.ErrNotExist) {
		return Image{}, fault.Wrap(fault.Platform, ErrNotFound, "find image %s", profile).
			WithHint("joy image build --profile %s", profile)
	}
	if err != nil {
		return Image{}, fault.Wrap(fault.Platform, err, "read which image %s is", profile).
			WithHint("joy image build --profile %s", profile)
	}
	return Find(cacheDir, p.Digest)
}

// readPointer gives what profile points at; an error with fs.ErrNotExist in its tree means at nothing.
func readPointer(cacheDir, profile string) (pointer, error) {
	var p pointer
	b, err := ordinary.Read(pointerPath(cacheDir, profile), maxPointer)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil || p.Schema != pointerSchema {
		return p, errors.New("not a pointer joy wrote")
	}
	return p, nil
}

// Resolve gives the image a person names: a profile, a digest, or the beginning of a digest, with or without sha256:,
// of at least eight hex digits.
func Resolve(cacheDir, name string) (Image, error) {
	prefix := strings.TrimPrefix(name, "sha256:")
	switch {
	case hexDigest.MatchString(prefix):
		return Find(cacheDir, "sha256:"+prefix)
	case !hexPrefix.MatchString(prefix):
		return Latest(cacheDir, name)
	}
	images, err := List(cacheDir)
	var found []Image
	for _, img := range images {
		if strings.HasPrefix(img.Digest(), "sha256:"+prefix) {
			found = append(found, img)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Image{}, errors.Join(err, fault.Wrap(fault.Platform, ErrNotFound, "find image %s", name).
			WithHint("joy image list shows what is here"))
	}
	return Image{}, fault.New(fault.Input, "%s begins the digests of %d images", name, len(found)).WithHint("write more of it")
}

// hexPrefix is a shortened digest; no profile looks like one.
var hexPrefix = regexp.MustCompile(`^[0-9a-f]{8,63}$`)

// List gives the images in the cache, sorted by profile and digest. Damaged ones are left out; the error joins one
// fault for each, and the images are good all the same.
func List(cacheDir string) ([]Image, error) {
	entries, err := os.ReadDir(imagesDir(cacheDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "list the images")
	}
	var images []Image
	var bad []error
	for _, e := range entries {
		if !hexDigest.MatchString(e.Name()) {
			continue
		}
		img, err := open(filepath.Join(imagesDir(cacheDir), e.Name()))
		if err != nil {
			bad = append(bad, damaged("sha256:"+e.Name(), err))
			continue
		}
		images = append(images, img)
	}
	sort.Slice(images, func(a, b int) bool {
		if pa, pb := images[a].Manifest.Profile, images[b].Manifest.Profile; pa != pb {
			return pa < pb
		}
		return images[a].Digest() < images[b].Digest()
	})
	return images, errors.Join(bad...)
}

// Verify reads every file of the image and compares it with the manifest.
func Verify(img Image) error {
	for _, f := range img.Manifest.Files {
		sum, n, err := sumFile(filepath.Join(img.Dir, filepath.FromSlash(f.Name)))
		if err != nil {
			return damaged(img.Digest(), err)
		}
		if sum != f.SHA256 || n != f.Size {
			return damaged(img.Digest(), fmt.Errorf("%s is sha256:%s, the manifest says sha256:%s", f.Name, sum, f.SHA256))
		}
	}
	return nil
}

// Remove deletes the image of that digest, damaged or not, and what points at it. A VM that runs from it keeps its open
// files.
func Remove(cacheDir, digest string) error {
	if !namedImage.MatchString(digest) {
		return fault.New(fault.Input, "bad image digest %q", digest)
	}
	dir := filepath.Join(imagesDir(cacheDir), strings.TrimPrefix(digest, "sha256:"))
	if _, err := os.Lstat(dir); err != nil {
		return fault.Wrap(fault.Platform, ErrNotFound, "find image %s", digest)
	}
	for _, profile := range Profiles {
		if p, err := readPointer(cacheDir, profile); err == nil && p.Digest == digest {
			if err := os.Remove(pointerPath(cacheDir, profile)); err != nil {
				return fault.Wrap(fault.Platform, err, "remove image %s", digest)
			}
		}
	}
	// Out of the name first: a half-deleted image must not be found.
	doomed, err := os.MkdirTemp(imagesDir(cacheDir), stagePrefix)
	if err == nil {
		err = os.Rename(dir, filepath.Join(doomed, "image"))
	}
	if err == nil {
		err = os.RemoveAll(doomed)
	}
	if err == nil {
		_ = os.Remove(containerPath(cacheDir, digest))
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "remove image %s", digest)
	}
	return nil
}

// stagePrefix starts the name of every directory in the cache that is not yet, or no longer, an image.
const stagePrefix = ".stage-"

func sumFile(path string) (sum string, size int64, err error) {
	f, err := ordinary.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	if size, err = io.Copy(h, f); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}
