//go:build unix

package state

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkOwner refuses a directory that another user owns or may write to.
func checkOwner(path string, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return refuse(path, fmt.Sprintf("belongs to user %d, not to you (%d)", st.Uid, os.Geteuid()),
			"name a directory of your own with --state-dir")
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return refuse(path, fmt.Sprintf("can be written by others (mode %04o)", mode), "chmod 700 "+path)
	}
	return nil
}
