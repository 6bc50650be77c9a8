package image

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
)

// Options say what to build. Only Profile is required.
type Options struct {
	Profile string // tiny | base | full
	// Mirror is a Debian archive to use in place of the configured ones, e.g. https://mirror.example/debian. It is
	// trusted no more than any other: its index must be signed by Debian's key.
	Mirror   string
	CacheDir string // absolute; "" = DefaultCacheDir
	Force    bool   // build although an image of this profile and these rules is here
	// Progress is told where the build stands, from one goroutine at a time. May be nil.
	Progress func(Progress)
	// Log receives what the outside tools print. May be nil.
	Log io.Writer
	// LookupEnv is the environment in which tools are found and from which they get PATH, HOME, TMPDIR and the proxy
	// variables; nothing else of it reaches them. nil = the process's.
	LookupEnv func(key string) (string, bool)

	sources string // sources.list of a test's own archive
}

// Build makes the image of a profile, or returns the one that is here already, and points the profile at it.
// It needs the ordinary rights of a user, changes nothing outside CacheDir and the temporary directory, and leaves
// nothing behind when it fails or ctx is cancelled. Builds in one cache wait for each other.
//
// Errors: kind input for an unknown profile; kind platform, with the command that fixes it, when a tool, disk space or
// the archive is missing, and on systems other than Linux.
func Build(ctx context.Context, o Options) (Image, error) {
	if err := Known(o.Profile); err != nil {
		return Image{}, err
	}
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.CacheDir == "" {
		dir, err := DefaultCacheDir(func(key string) string { v, _ := o.LookupEnv(key); return v })
		if err != nil {
			return Image{}, err
		}
		o.CacheDir = dir
	}
	if !filepath.IsAbs(o.CacheDir) {
		return Image{}, fault.New(fault.Input, "the cache directory %q is not absolute", o.CacheDir)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	return build(ctx, o)
}

// current is the image the profile points at, when it is whole and made by these rules for this architecture.
func current(cacheDir, profile, arch string) (Image, bool) {
	img, err := Latest(cacheDir, profile)
	if err != nil || img.Manifest.Rules != Rules || img.Manifest.Arch != arch {
		return Image{}, false
	}
	return img, true
}
