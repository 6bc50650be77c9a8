//go:build unix

package secret

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the program leader of a group that ends as a whole when joy gives up on it.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
