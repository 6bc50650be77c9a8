//go:build unix

package artifact

import (
	"errors"

	"golang.org/x/sys/unix"
)

// lock takes the store's lock until Close or the end of the process: alone at once or not at all, else together with others.
func (s *Store) lock(alone bool) error {
	f, err := s.root.Open(".")
	if err != nil {
		return err
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX | unix.LOCK_NB
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Flock(int(f.Fd()), how)
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrInUse
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.held = f
	return nil
}
