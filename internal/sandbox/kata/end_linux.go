package kata

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/containerd/containerd/api/services/tasks/v1"
	"github.com/containerd/containerd/api/types/task"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
)

const (
	// endLimit bounds the ending of a VM; what calls it gives up after a minute.
	endLimit = 50 * time.Second
	// endPause lies between two attempts.
	endPause = 20 * time.Millisecond
	// releasePause lies between two looks for a shim that waits: one that is late shows at any time.
	releasePause = 100 * time.Millisecond
)

// end ends the task, removes the container, its snapshot and its lease, and waits until nothing is left of them: not in
// containerd, not in the process list, not in the directories of the runtime. ctx may be cancelled already. It repeats what
// fails, so a containerd that is being restarted is waited for. An error is sandbox.ErrAlive.
func (p *Provider) end(ctx context.Context, s *store, container string) error {
	ctx, cancel := context.WithTimeout(within(context.WithoutCancel(ctx)), endLimit)
	defer cancel()
	go release(ctx, p.dir(container))
	for {
		err := s.remove(ctx, container)
		if err == nil {
			err = removeCgroups(container)
		}
		if err == nil {
			err = p.leftovers(container)
		}
		if err == nil {
			err = os.RemoveAll(p.dir(container))
		}
		if err == nil {
			return nil
		}
		select {
		case <-time.After(endPause):
		case <-ctx.Done():
			return fault.Wrap(fault.Platform, fmt.Errorf("%w: %w", sandbox.ErrAlive, err), "ending the VM %s", container).WithHint("joy gc")
		}
	}
}

// release lets a shim go on that opens the guest's streams and waits for joy to open them as well (fifo(7)), which a joy that
// was killed never will: until then it answers no question about its container.
func release(ctx context.Context, dir string) {
	for ctx.Err() == nil {
		for _, name := range streams {
			if f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR|unix.O_NONBLOCK, 0); err == nil {
				f.Close()
			}
		}
		select {
		case <-time.After(releasePause):
		case <-ctx.Done():
		}
	}
}

// remove makes one attempt; whatever is not there any more is no error.
func (s *store) remove(ctx context.Context, container string) error {
	if err := s.endTask(ctx, container); err != nil {
		return fmt.Errorf("ending the task: %w", err)
	}
	c, err := s.ContainerService().Get(ctx, container)
	snapshotter := c.Snapshotter
	if err == nil {
		err = s.ContainerService().Delete(ctx, container)
	}
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing the container: %w", err)
	}
	if err := s.SnapshotService(snapshotter).Remove(ctx, container); err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	err = s.LeasesService().Delete(ctx, leases.Lease{ID: container}, leases.SynchronousDelete)
	if err != nil && !errdefs.IsNotFound(err) && !noSpace(err) {
		return fmt.Errorf("removing the lease: %w", err)
	}
	return nil
}

// noSpace says whether containerd could not write, for which it has no code. By then nothing is left that the lease held, and
// the lease has an end of its own.
func noSpace(err error) bool { return strings.Contains(err.Error(), unix.ENOSPC.Error()) }

// endTask kills the task, waits for its end and deletes it, by which the shim ends the VM.
func (s *store) endTask(ctx context.Context, container string) error {
	service := s.TaskService()
	_, err := service.Kill(ctx, &tasks.KillRequest{ContainerID: container, Signal: uint32(syscall.SIGKILL)})
	if err = errgrpc.ToNative(err); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsFailedPrecondition(err) {
		return err
	}
	if err == nil {
		if _, err := service.Wait(ctx, &tasks.WaitRequest{ContainerID: container}); err != nil && !errdefs.IsNotFound(errgrpc.ToNative(err)) {
			return err
		}
	}
	_, err = service.Delete(ctx, &tasks.DeleteTaskRequest{ContainerID: container})
	if err = errgrpc.ToNative(err); err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	return nil
}

// state is how containerd calls the state of a container's task.
func (s *store) state(ctx context.Context, container string) (string, error) {
	r, err := s.TaskService().Get(within(ctx), &tasks.GetRequest{ContainerID: container})
	switch err = errgrpc.ToNative(err); {
	case errdefs.IsNotFound(err):
		return "gone: its shim has ended", nil
	case err != nil:
		return "", err
	case r.Process.Status == task.Status_RUNNING:
		return "running", nil
	}
	return r.Process.Status.String(), nil
}

// exists says whether containerd has anything of that name.
func (s *store) exists(ctx context.Context, container string) (bool, error) {
	ctx = within(ctx)
	_, task := s.TaskService().Get(ctx, &tasks.GetRequest{ContainerID: container})
	_, record := s.ContainerService().Get(ctx, container)
	_, snapshot := s.SnapshotService("").Stat(ctx, container)
	var unknown []error
	for _, err := range []error{errgrpc.ToNative(task), record, snapshot} {
		if err == nil {
			return true, nil
		}
		if !errdefs.IsNotFound(err) {
			unknown = append(unknown, err)
		}
	}
	return false, errors.Join(unknown...)
}
