package kata

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/leases"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/pkg/cio"

	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// Labels of everything that is made in containerd.
const (
	labelRun   = "ai.joystream.joy.run"
	labelOwner = "ai.joystream.joy.owner"
)

// making is how long the lease on a VM that is being made lasts. It holds the snapshot until the container does; a joy that
// dies in between leaves it to containerd's own garbage collection.
const making = 10 * time.Minute

func (b *box) labels() map[string]string {
	return map[string]string{labelRun: b.spec.Run, labelOwner: b.provider.Owner}
}

// start makes the container and its task, and starts joy-guest.
func (b *box) start(ctx context.Context, img containerd.Image) error {
	dir := b.provider.dir(b.container)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	guest := filepath.Join(dir, "joy-guest")
	if err := os.WriteFile(guest, b.provider.Guest, 0o755); err != nil {
		return fmt.Errorf("writing joy-guest: %w", err)
	}
	device, err := b.disk()
	if err != nil {
		return err
	}
	c, err := b.newContainer(ctx, img, guest, device)
	if err != nil {
		return err
	}
	b.asked = true
	task, err := c.NewTask(within(ctx), b.open(dir))
	if err != nil {
		return fmt.Errorf("making the VM: %w", err)
	}
	b.task = task
	exit, err := task.Wait(within(context.WithoutCancel(ctx)))
	if err != nil {
		return fmt.Errorf("watching the VM: %w", err)
	}
	go b.watch(exit)
	if err := task.Start(within(ctx)); err != nil {
		return fmt.Errorf("starting the guest: %w", err)
	}
	return nil
}

// disk gives the number of the scratch disk's device, or 0 where this user can make none: then the guest keeps in memory
// what steps write, and says so.
func (b *box) disk() (uint64, error) {
	dir := b.provider.Scratch
	if dir == "" {
		dir = os.TempDir()
	}
	d, err := newDisk(dir, int64(b.spec.Disk))
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		b.short = append(b.short, fmt.Sprintf("no scratch disk (%v)", err))
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	b.scratch = d
	return d.number, nil
}

// newContainer makes the container and the snapshot that is its root, under a lease.
func (b *box) newContainer(ctx context.Context, img containerd.Image, guest string, device uint64) (containerd.Container, error) {
	ctx = within(ctx)
	lease, err := b.client.LeasesService().Create(ctx, leases.WithID(b.container), leases.WithLabels(b.labels()), leases.WithExpiration(cmp.Or(b.provider.making, making)))
	if err != nil {
		return nil, fmt.Errorf("making a lease: %w", err)
	}
	ctx = leases.WithLease(ctx, lease.ID)
	unpacked, err := img.IsUnpacked(ctx, b.provider.Snapshotter)
	if err == nil && !unpacked {
		err = img.Unpack(ctx, b.provider.Snapshotter)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking the image: %w", err)
	}
	c, err := b.client.NewContainer(ctx, b.container,
		containerd.WithSnapshotter(b.provider.Snapshotter),
		containerd.WithNewSnapshot(b.container, img, snapshots.WithLabels(b.labels())),
		containerd.WithImage(img),
		containerd.WithContainerLabels(b.labels()),
		containerd.WithRuntime(b.provider.runtime(), nil),
		containerd.WithNewSpec(b.specOpts(guest, device)...),
	)
	if err != nil {
		return nil, fmt.Errorf("making the container: %w", err)
	}
	return c, nil
}

// streams are the names of the guest's.
var streams = [3]string{"stdin", "stdout", "stderr"}

// open makes the streams as named pipes between joy and the shim: they outlive a restart of containerd, and their end is the
// guest's.
func (b *box) open(dir string) cio.Creator {
	return func(string) (cio.IO, error) {
		fifos := cio.NewFIFOSet(cio.Config{
			Stdin: filepath.Join(dir, streams[0]), Stdout: filepath.Join(dir, streams[1]), Stderr: filepath.Join(dir, streams[2]),
		}, nil)
		direct, err := cio.NewDirectIO(context.Background(), fifos)
		if err != nil {
			return nil, fmt.Errorf("making the guest's channel: %w", err)
		}
		b.wire = &wire{direct.Stdin, direct.Stdout}
		go b.listen(direct.Stderr)
		return direct, nil
	}
}

// wire is the byte stream to the guest.
type wire struct {
	in  io.WriteCloser
	out io.ReadCloser
}

func (w *wire) Read(p []byte) (int, error)  { return w.out.Read(p) }
func (w *wire) Write(p []byte) (int, error) { return w.in.Write(p) }
func (w *wire) Close() error                { return errors.Join(w.in.Close(), w.out.Close()) }

// leaveInput has the shim end the guest's input when joy's end of it is closed, as it is when joy dies. containerd's own shim
// would hold the pipe open itself, and stops at once; Kata's answers when the pipe has ended, and goes on to wait for that
// though nobody waits for the answer.
func (b *box) leaveInput(ctx context.Context) { _ = b.task.CloseIO(ctx, containerd.WithStdinCloser) }

// connect waits for the guest and brings it to life.
func (b *box) connect(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { b.wire.Close() })
	defer stop()
	err := guestclient.AwaitReady(b.wire)
	if err == nil {
		b.Client, err = guestclient.New(ctx, b.wire, b.spec.Door)
	}
	if err != nil {
		b.wire.Close()
		return b.withLastWords(fmt.Errorf("waiting for the guest: %w", errors.Join(ctx.Err(), err)))
	}
	go b.leaveInput(within(context.WithoutCancel(ctx)))
	if b.scratch != nil { // mounted by now
		_ = b.scratch.Close()
	}
	return nil
}
