package image

import (
	"context"
	"errors"
	"time"
)

// ErrBuilding is in the tree of Trim's error while an image is being built in that cache: what it uses cannot be told
// from what nobody needs.
var ErrBuilding = errors.New("an image is being built")

// TrimOptions says what to clear of a cache.
type TrimOptions struct {
	CacheDir string
	// Unused is the time since which no run has used an image that goes. An image that a profile means stays, as does
	// one that a run holds.
	Unused time.Time
	DryRun bool // only list
	// LookupEnv is as in Options.
	LookupEnv func(key string) (string, bool)
}

// Leftover is something in the cache that nothing needs.
type Leftover struct {
	Kind string `json:"kind"` // image, initrd, build, packages, temporary; of others also snapshot
	Name string `json:"name"` // a path below the cache, or an image's digest
	Size int64  `json:"bytes"`
	Used string `json:"used,omitempty"` // RFC 3339, UTC: when it was used last, where that is known
}

// Trim removes images that nothing means and no run has used since o.Unused, initrds of other joys and images, what
// interrupted builds and writes have left, and Debian's packages. All of it can be made again. The list is of what was
// removed, or would be, also when there is an error.
func Trim(ctx context.Context, o TrimOptions) ([]Leftover, error) { return trim(ctx, o) }

// Hold keeps Trim from the image until release is called or the process has ended, however it ends, and notes that it
// was used. ErrNotFound is in the tree of the error when it has just been removed.
func Hold(img Image) (release func(), err error) { return hold(img) }
