package image

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
)

// hold locks the image's directory for reading. A VM needs its files' descriptors only, but between the look at an
// image and the boot from it a run may wait for hours.
func hold(img Image) (func(), error) {
	f, err := os.Open(img.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, removed(img)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "hold image %s", img.Digest())
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil || !still(f, img.Dir) {
		f.Close()
		return nil, removed(img)
	}
	now := time.Now()
	_ = os.Chtimes(img.Dir, now, now) // of a cache that others only read, nobody clears either
	return func() { f.Close() }, nil
}

func removed(img Image) error {
	return fault.Wrap(fault.Platform, ErrNotFound, "image %s has just been removed", img.Digest()).
		WithHint("joy image build --profile %s", img.Manifest.Profile)
}

// still says whether the open directory is the one that has the name.
func still(f *os.File, dir string) bool {
	opened, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(dir)
	return err == nil && os.SameFile(opened, named)
}

// claim locks an image that no run holds, so that none begins to. ok is false when one does.
func claim(img Image) (release func(), ok bool, err error) {
	f, err := os.Open(img.Dir)
	if err != nil {
		return nil, false, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return func() { f.Close() }, true, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = nil
	}
	return nil, false, err
}
