//go:build unix

package ledger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// noFollow makes open fail on a link in the file's place.
const noFollow = unix.O_NOFOLLOW

// lock takes the writer's lock, which ends with the file's close or the process; it does not wait.
func lock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) // #nosec G304 -- the run's own directory
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
