package ledger

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync puts the file's bytes and its length on the disk; its times may follow later (fdatasync(2)).
func datasync(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
