//go:build unix

package operator

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// checkRights refuses a policy that somebody else could have written.
func checkRights(info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("it belongs to user %d, neither root nor you", st.Uid)
	}
	if mode := info.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("its mode is %04o, and others may write it", mode)
	}
	return nil
}
