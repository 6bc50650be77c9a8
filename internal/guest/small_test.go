//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"prog": 0o755, "data": 0o644} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, mode))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir"), 0o755))
	path := "/no/such:" + dir

	got, err := lookPath([]string{"prog"}, path)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "prog"), got)
	got, err = lookPath([]string{"./x"}, path)
	require.NoError(t, err)
	require.Equal(t, "./x", got, "a path is not looked up")
	for _, name := range []string{"data", "dir", "none"} {
		_, err := lookPath([]string{name}, path)
		require.ErrorContains(t, err, "not found", name)
	}
	_, err = lookPath([]string{"prog"}, "")
	require.Error(t, err)
	_, err = lookPath([]string{""}, path)
	require.Error(t, err)
}

func TestNames(t *testing.T) {
	for _, id := range []string{"a", "render-report", "0", strings.Repeat("x", 64)} {
		require.True(t, validID(id), id)
	}
	for _, id := range []string{"", ".", "..", "a/b", "a~", "A", "a b", "ü", "a\x00", strings.Repeat("x", 65)} {
		require.False(t, validID(id), id)
	}
	lower, err := layers([]string{"setup", "step"})
	require.NoError(t, err)
	require.Equal(t, []string{"/scratch/layers/step", "/scratch/layers/setup", dirVM, dirImage}, lower, "nearest first")
	_, err = layers([]string{"../worlds"})
	require.Error(t, err)
}

func TestCountCPUs(t *testing.T) {
	for list, want := range map[string]int{"0": 1, "0-3": 4, "0-1,4,6-7": 5, "": 0, "x": 0, "3-1": 0} {
		require.Equal(t, want, countCPUs(list), list)
	}
}

func TestKnownCalls(t *testing.T) {
	known := knownCalls()
	for _, name := range []string{"mount", "ptrace", "keyctl", "bpf", "unshare", "setns", "io_uring_setup"} {
		require.Contains(t, known, name)
	}
	require.Len(t, keptCaps, 10)
	for _, c := range []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_RAW, unix.CAP_MKNOD, unix.CAP_SYS_CHROOT, unix.CAP_SETPCAP} {
		require.NotContains(t, keptCaps, c)
	}
}

func TestKillBeforeTheCommandBegins(t *testing.T) {
	var c commands
	require.NoError(t, c.kill(7))
	_, err := c.begin(7, "")
	require.ErrorIs(t, err, errKilled)

	cmd, err := c.begin(8, "/no/such/cgroup")
	require.NoError(t, err)
	killed := make(chan error, 1)
	go func() { killed <- c.kill(8) }()
	select {
	case err := <-killed:
		require.Fail(t, "it has not ended", "%v", err)
	default:
	}
	c.end(8, cmd)
	c.end(8, cmd)
	require.NoError(t, <-killed)
}

func TestSysctlsExist(t *testing.T) {
	for name := range sysctls {
		require.FileExists(t, "/proc/sys/"+name)
	}
}
