package katatest

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/leases"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Small puts what the daemon keeps on a disk of 64 MiB, until the test ends.
func (c *Containerd) Small(t testing.TB) {
	t.Helper()
	root, small := c.root(), filepath.Join(c.Dir, "small")
	c.Down(t)
	require.NoError(t, os.Mkdir(small, 0o700))
	disk := filepath.Join(c.Dir, "small.ext4") // on which a directory takes room, as on no tmpfs
	require.NoError(t, os.WriteFile(disk, nil, 0o600))
	require.NoError(t, os.Truncate(disk, 64<<20))
	for _, argv := range [][]string{{"mkfs.ext4", "-q", "-m", "0", disk}, {"mount", "-o", "loop", disk, small}, {"cp", "-a", root + "/.", small}} {
		out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
		require.NoError(t, err, "%s: %s", argv, out)
	}
	t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	require.NoError(t, unix.Mount(small, root, "", unix.MS_BIND, ""))
	t.Cleanup(func() {
		c.Down(t)
		require.NoError(t, unix.Unmount(root, unix.MNT_DETACH))
		c.Up(t)
	})
	c.Up(t)
	c.CollectGarbage(t) // containerd 1.6 ends with a nil pointer when its first collection finds the disk full
}

// Fill takes what room there is on the disk, until it is called off.
func (c *Containerd) Fill(t testing.TB) (free func()) {
	t.Helper()
	c.CollectGarbage(t) // which would make room later
	rest := filepath.Join(c.root(), "rest")
	require.NoError(t, os.Mkdir(rest, 0o700))
	f, err := os.Create(filepath.Join(rest, "file"))
	require.NoError(t, err)
	_, err = io.Copy(f, zeros{})
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, f.Sync())
	require.NoError(t, f.Close()) // ext4 gives back now what it had set apart for the file
	err = nil
	for n := 0; err == nil; n++ { // a directory takes the last single block
		err = os.Mkdir(filepath.Join(rest, strconv.Itoa(n)), 0o700)
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	return func() { require.NoError(t, os.RemoveAll(rest)) }
}

func (c *Containerd) root() string { return filepath.Join(c.Dir, "root") }

// CollectGarbage returns when containerd has collected once.
func (c *Containerd) CollectGarbage(t testing.TB) {
	t.Helper()
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	list := client.LeasesService()
	lease, err := list.Create(t.Context(), leases.WithRandomID(), leases.WithExpiration(time.Minute))
	require.NoError(t, err)
	require.NoError(t, list.Delete(t.Context(), lease, leases.SynchronousDelete))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }
