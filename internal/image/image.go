// Package image builds, names and finds what a local VM boots from: a kernel, the few modules it needs, and a
// read-only root file system.
//
// The one rule: an image is its bytes. It is named by a digest over its files, lives in a directory of that name and
// never changes there; a profile such as base is only a pointer to one of them. joy-guest is no part of an image:
// joy carries it, and Initrd puts it together with the image's modules.
package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
)

// Rules is the version of the recipes. An image of other rules stays usable by its digest, but Build makes a new one.
const Rules = 5

// Schema is the format of manifest.json.
const Schema = "joy.image/1"

// Names of the files of an image. Modules are modules/NN-name.ko; NN is a level, and a module needs only modules of
// lower levels.
const (
	KernelFile   = "kernel"
	RootFile     = "root.squashfs"
	manifestFile = "manifest.json"
)

// Profiles are the images joy knows how to build.
var Profiles = []string{"tiny", "base", "full"}

// Image is one image in the cache. It is a value: nothing has to be closed.
type Image struct {
	Dir      string // absolute
	Manifest Manifest
}

// Digest names the image: sha256:… as Manifest.ID computes it.
func (i Image) Digest() string { return i.Manifest.Digest }

// Kernel is the path of the kernel.
func (i Image) Kernel() string { return filepath.Join(i.Dir, KernelFile) }

// Root is the path of the root file system, a squashfs.
func (i Image) Root() string { return filepath.Join(i.Dir, RootFile) }

// Modules are the names of the kernel modules, modules/NN-name.ko, by level: an order in which they can be loaded.
func (i Image) Modules() []string {
	var names []string
	for _, f := range i.Manifest.Files {
		if strings.HasPrefix(f.Name, "modules/") {
			names = append(names, f.Name)
		}
	}
	return names
}

// Size is what the image occupies, in bytes.
func (i Image) Size() int64 {
	var n int64
	for _, f := range i.Manifest.Files {
		n += f.Size
	}
	return n
}

// Manifest says what an image is and where it came from. Only Arch, Profile and Files make its digest.
type Manifest struct {
	Schema   string    `json:"schema"`
	Digest   string    `json:"digest"`
	Profile  string    `json:"profile"`
	Arch     string    `json:"arch"`     // as Go and Debian both call it: amd64, arm64
	Rules    int       `json:"rules"`    // of the recipe that made it
	Kernel   string    `json:"kernel"`   // release, as uname -r prints it in the VM
	Files    []File    `json:"files"`    // sorted by name, bytewise
	Packages []Package `json:"packages"` // sorted by name
	LeftOut  []LeftOut `json:"left_out,omitempty"`
	Programs []string  `json:"programs,omitempty"` // what a step finds on PATH, sorted; none before rules 3
}

// File is one file of an image.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // hex
}

// Package is one package whose files are in the image.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Arch    string `json:"arch"`
	SHA256  string `json:"sha256"`         // hex, of the file it came as; "" where the archive no longer told
	From    string `json:"from,omitempty"` // npm, pypi; "" = Debian
}

// LeftOut is what a profile has where it can be had, and this image has not.
type LeftOut struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ID computes the digest from the part of the manifest that decides what a VM sees: sha256 over the lines
//
//	joy-image 1
//	arch ARCH
//	profile PROFILE
//	SHA256-HEX SIZE NAME      one for each file, sorted by name, bytewise
//
// each ended by a line feed. Where the files came from is not part of it: equal bytes are the same image.
func (m Manifest) ID() string {
	files := append([]File(nil), m.Files...)
	sort.Slice(files, func(a, b int) bool { return files[a].Name < files[b].Name })
	h := sha256.New()
	fmt.Fprintf(h, "joy-image 1\narch %s\nprofile %s\n", m.Arch, m.Profile)
	for _, f := range files {
		fmt.Fprintf(h, "%s %d %s\n", f.SHA256, f.Size, f.Name)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// DefaultCacheDir is joy's directory in the user's cache, on every system: $XDG_CACHE_HOME/joy where that is absolute,
// else ~/.cache/joy. getenv may be nil.
func DefaultCacheDir(getenv func(string) string) (string, error) {
	if getenv == nil {
		getenv = os.Getenv
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "joy"), nil
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		var err error
		if home, err = os.UserHomeDir(); err != nil {
			return "", fault.Wrap(fault.Platform, err, "find the cache directory").
				WithHint("set XDG_CACHE_HOME to an absolute path")
		}
	}
	return filepath.Join(home, ".cache", "joy"), nil
}

// Known checks a profile's name.
func Known(profile string) error {
	for _, p := range Profiles {
		if p == profile {
			return nil
		}
	}
	return fault.New(fault.Input, "unknown image profile %q", profile).
		WithHint("use one of: %s", strings.Join(Profiles, ", "))
}
