package artifact

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the store's lock until Close or the end of the process: alone at once or not at all, else together with others.
// A directory cannot be locked here, so there is a file for it.
func (s *Store) lock(alone bool) error {
	f, err := s.root.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	var how uint32
	if alone {
		how = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = ErrInUse
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	s.held = f
	return nil
}
