package katatest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cap"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// stranger is a container that runs and is not this user's joy's.
type stranger struct {
	namespace, id string
	pid           uint32
}

// Strangers starts containers of others: one by hand in joy's namespace, one there of another user's joy, one in another
// namespace. What it returns holds that each runs yet, as the same process, in a container nobody has changed.
func (c *Containerd) Strangers(t testing.TB) (untouched func(testing.TB)) {
	t.Helper()
	own := filepath.Base(c.Dir) // runc's state lies in one directory for every daemon
	all := []*stranger{
		c.stranger(t, "joy", "by-hand-"+own, nil),
		c.stranger(t, "joy", "joy-20261129-180300-abcdef-"+own, map[string]string{
			"ai.joystream.joy.run": "20261129-180300-abcdef", "ai.joystream.joy.owner": "4711:/home/other/.local/state/joy",
		}),
		c.stranger(t, "default", "elsewhere-"+own, nil),
	}
	return func(t testing.TB) {
		t.Helper()
		client, err := c.Client()
		require.NoError(t, err)
		defer client.Close()
		for _, s := range all {
			task := s.task(t, client)
			status, err := task.Status(s.within(t.Context()))
			require.NoError(t, err, s.id)
			require.Equal(t, []any{containerd.Running, s.pid}, []any{status.Status, task.Pid()}, s.id)
		}
	}
}

func (s *stranger) within(ctx context.Context) context.Context {
	return namespaces.WithNamespace(ctx, s.namespace)
}

func (s *stranger) task(t testing.TB, client *containerd.Client) containerd.Task {
	t.Helper()
	found, err := client.LoadContainer(s.within(t.Context()), s.id)
	require.NoError(t, err, s.id)
	task, err := found.Task(s.within(t.Context()), nil)
	require.NoError(t, err, s.id)
	return task
}

// stranger starts one, which ends with the test.
func (c *Containerd) stranger(t testing.TB, namespace, id string, labels map[string]string) *stranger {
	t.Helper()
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	have, err := cap.Current()
	require.NoError(t, err)
	s := &stranger{namespace: namespace, id: id}
	made, err := client.NewContainer(s.within(t.Context()), id,
		containerd.WithContainerLabels(labels), containerd.WithRuntime(sharedRuntime, nil),
		containerd.WithNewSpec(oci.WithDefaultSpec(), oci.WithRootFSPath(c.busybox(t, id)), oci.WithCapabilities(have),
			oci.WithCgroup("/"+id), oci.WithProcessArgs("/bin/busybox", "sleep", "100000")))
	require.NoError(t, err)
	task, err := made.NewTask(s.within(t.Context()), cio.NullIO)
	require.NoError(t, err)
	require.NoError(t, task.Start(s.within(t.Context())))
	s.pid = task.Pid()
	t.Cleanup(func() { c.end(t, s) })
	return s
}

func (c *Containerd) end(t testing.TB, s *stranger) {
	client, err := c.Client()
	require.NoError(t, err)
	defer client.Close()
	ctx := s.within(context.Background())
	found, err := client.LoadContainer(ctx, s.id)
	require.NoError(t, err)
	task, err := found.Task(ctx, nil)
	require.NoError(t, err)
	exit, err := task.Wait(ctx)
	require.NoError(t, err)
	require.NoError(t, task.Kill(ctx, unix.SIGKILL))
	<-exit
	_, err = task.Delete(ctx)
	require.NoError(t, err)
	require.NoError(t, found.Delete(ctx))
}

// busybox makes a root file system of one program.
func (c *Containerd) busybox(t testing.TB, id string) string {
	t.Helper()
	root := filepath.Join(c.Dir, "strangers", id)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	program, err := exec.LookPath("busybox")
	require.NoError(t, err, "script/setup installs busybox-static")
	body, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin/busybox"), body, 0o755)) // #nosec G703 -- in a directory of the test
	return root
}
