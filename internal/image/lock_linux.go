package image

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
)

// lockPoll is how often a waiting build looks again; flock(2) itself cannot be cancelled.
const lockPoll = 200 * time.Millisecond

// lock takes the build lock of a cache. The kernel drops it when its holder dies, however it dies: so whoever has it
// knows that every stage in the cache belongs to nobody. waiting is called once if another build holds it.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open the build lock")
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for first := true; ; first = false {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fault.Wrap(fault.Platform, err, "take the build lock %s", path)
		}
		if first {
			waiting()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		}
	}
}

// sweep removes what interrupted builds left. The caller holds the build lock.
func (b *builder) sweep(ctx context.Context) error {
	entries, err := os.ReadDir(imagesDir(b.CacheDir))
	if err != nil {
		return fault.Wrap(fault.Platform, err, "sweep the image cache")
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stagePrefix) {
			continue
		}
		stage := filepath.Join(imagesDir(b.CacheDir), e.Name())
		if err := b.removeWork(ctx, stage); err != nil {
			return err
		}
		if err := os.RemoveAll(stage); err != nil {
			return fault.Wrap(fault.Platform, err, "remove what an interrupted build left")
		}
	}
	return nil
}

// point makes profile mean the image of that digest.
func point(cacheDir, profile, digest string) error {
	path := pointerPath(cacheDir, profile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeAtomic(path, 0o644, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(pointer{Schema: pointerSchema, Digest: digest})
	})
}
