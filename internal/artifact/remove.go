package artifact

import (
	"errors"
	"io/fs"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Remove takes objects out, durably. One that is not there is no error. Only a Store of OpenAlone removes: who stores
// relies on what is there.
func (s *Store) Remove(digests []string) error {
	dirs := map[string]bool{}
	for _, digest := range digests {
		dir, name, err := place(digest)
		if err != nil {
			return err
		}
		if err := s.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Platform, err, "remove object")
		}
		dirs[dir] = true
	}
	for dir := range dirs {
		if err := s.syncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.Wrap(fault.Platform, err, "remove object")
		}
	}
	return nil
}

// Sweep removes every temporary file: nobody stores while a Store of OpenAlone is open, so a crash has left them.
func (s *Store) Sweep() error {
	if err := s.sweep(time.Now().Add(time.Hour)); err != nil {
		return fault.Wrap(fault.Platform, err, "sweep store")
	}
	return nil
}
