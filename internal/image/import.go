package image

import "context"

// ImportOptions say where to.
type ImportOptions struct {
	CacheDir string                          // absolute; "" = DefaultCacheDir
	Progress func(Progress)                  // may be nil
	Getenv   func(key string) (value string) // nil = the process's
}

// Imported is what Import did.
type Imported struct {
	Image   Image
	Already bool // it was here, whole; nothing was written
	Current bool // its profile means this image on this machine
}

// Import takes an image out of a file that Export wrote, checks every byte against the digest that names the image, and
// puts it in the cache. A profile that means no image here means this one afterwards; one that does keeps its meaning:
// what a machine runs by default does not change because somebody handed over a file.
//
// It leaves nothing behind when it fails or ctx is cancelled, and waits for builds in the same cache.
//
// Errors: kind input when the file is not there or no such archive, is cut off, or holds other bytes than it says; kind
// platform when there is no room, and on systems other than Linux.
func Import(ctx context.Context, file string, o ImportOptions) (Imported, error) {
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.CacheDir == "" {
		dir, err := DefaultCacheDir(o.Getenv)
		if err != nil {
			return Imported{}, err
		}
		o.CacheDir = dir
	}
	return importImage(ctx, file, o)
}
