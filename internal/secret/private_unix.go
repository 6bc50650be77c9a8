//go:build unix

package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openPrivate follows no link at the end of path, and does not wait for a writer when it names a pipe.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link, which is not followed", path)
	}
	return f, err
}

func checkPrivate(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d, not to you (%d)", path, st.Uid, os.Geteuid())
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("the mode of %s is %04o, and others may read it (chmod 600)", path, mode)
	}
	return nil
}
