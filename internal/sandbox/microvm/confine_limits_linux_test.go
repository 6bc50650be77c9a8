package microvm

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/thread"
)

// Only the thread that sets QEMU's limits takes QEMU's ids: joy stays who it is, and so do the programs that it starts.
func TestBoundLeavesJoyWhoItIs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may have another uid")
	}
	other := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, other.Start())
	defer other.Wait()
	defer other.Process.Kill()
	real, effective, saved := unix.Getresuid()
	done := make(chan int)
	thread.Own(func() {
		(&hold{uid: 65534}).bound(other.Process.Pid)
		r, _, _ := unix.Getresuid()
		done <- r
	})
	require.Equal(t, 65534, <-done)
	r, e, s := unix.Getresuid()
	require.Equal(t, []int{real, effective, saved}, []int{r, e, s})
	gid, _, _ := unix.Getresgid()
	require.Equal(t, os.Getegid(), gid)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "id -ru; id -u").Output()
	require.NoError(t, err)
	require.Equal(t, "0\n0\n", string(out))
}
