package image

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// The digest of a container image follows from its image's and from the joy that packs it, and takes a packing to find: what
// an export has found is kept beside the images.

var containerDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func containerPath(cacheDir, digest string) string {
	return filepath.Join(cacheDir, "containers", strings.TrimPrefix(digest, "sha256:"))
}

// KeepContainer notes the digest of the container image that an export made of an image.
func KeepContainer(cacheDir string, img Image, digest string) error {
	path := containerPath(cacheDir, img.Digest())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.Wrap(fault.Platform, err, "keep the digest of the container image")
	}
	if err := os.WriteFile(path, []byte(digest+"\n"), 0o644); err != nil {
		return fault.Wrap(fault.Platform, err, "keep the digest of the container image")
	}
	return nil
}

// Container is the digest of the container image that was last exported of an image, or "".
func Container(cacheDir, digest string) string {
	if !namedImage.MatchString(digest) {
		return ""
	}
	text, err := ordinary.Read(containerPath(cacheDir, digest), maxPointer)
	found := strings.TrimSpace(string(text))
	if err != nil || !containerDigest.MatchString(found) {
		return ""
	}
	return found
}
