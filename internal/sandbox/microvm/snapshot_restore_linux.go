package microvm

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/guestclient"
)

// heldBack is how much of a snapshot QEMU gets only once all of it has the right digest, in bytes. The state of the
// devices and the mark of the end are in it, without which QEMU starts no CPU: what was tampered with never runs.
const heldBack = 1 << 20

// noSnapshot is the reason of the first run with a kind of machine.
const noSnapshot = "there is no snapshot of this machine yet"

// startFromSnapshot starts spec's VM from a snapshot where that is possible. Without a VM and without an error it has
// to be booted; reason then says why. An error is one that a boot would meet as well.
func (m *machine) startFromSnapshot(ctx context.Context, spec sandbox.Spec) (v *vm, reason string, err error) {
	if spec.Start == "cold" {
		return nil, "policy.start is cold", nil
	}
	s, err := m.store()
	if err != nil {
		return nil, "no snapshot can be kept: " + err.Error(), nil //nolint:nilerr // a boot needs none
	}
	if why := s.refused(); why != "" {
		return nil, "a snapshot of this machine failed within the last day: " + why, nil
	}
	snap, ok, err := s.find()
	switch {
	case err != nil:
		return nil, err.Error(), nil //nolint:nilerr // likewise
	case !ok:
		return nil, noSnapshot, nil
	}
	file, err := s.open(snap)
	switch {
	case errors.Is(err, fs.ErrNotExist): // cleared a moment ago
		return nil, noSnapshot, nil
	case err != nil:
		return nil, s.discard(snap, err, false), nil
	}
	defer file.Close()
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, "", err
	}
	defer ours.Close()
	_, _ = unix.FcntlInt(ours.Fd(), unix.F_SETPIPE_SZ, 1<<20) // a hint
	proc, err := m.begin(restoring(theirs), spec.Started)
	if err != nil {
		return nil, "", err
	}
	client, err := revive(ctx, proc, spec, func() error {
		if err := s.feed(ours, file, snap); err != nil {
			return err
		}
		if err := proc.held(spec.Isolation); err != nil { // QEMU has read nearly all of it, so its own filter is on
			return unheld{err}
		}
		return nil
	})
	if err == nil {
		_ = os.Chtimes(snap.Path, time.Time{}, time.Now()) // those used longest ago go first
		info := m.info(spec, proc)
		info.Start = "snapshot"
		return newVM(client, proc, info), "", nil
	}
	var free unheld
	if !errors.As(err, &free) && !errors.Is(err, errUnfit) {
		err = proc.explain(err)
	}
	outside := proc.fromOutside()
	switch killed := proc.destroy(); {
	case free.error != nil:
		return nil, "", errors.Join(free.error, killed)
	case killed != nil || ctx.Err() != nil:
		return nil, "", errors.Join(err, killed)
	case outside:
		return nil, "the VM was stopped or killed from outside: " + err.Error(), nil
	}
	return nil, s.discard(snap, err, !errors.Is(err, errUnfit)), nil
}

// unheld is QEMU's not being held as the plan wants it: a boot would meet it as well.
type unheld struct{ error }

// restoring starts from a stream. It needs neither kernel nor initrd: they are in the guest's memory.
func restoring(stream *os.File) way {
	return way{
		args:  []string{"-incoming", "fd:" + strconv.Itoa(fdFirst)},
		files: []func() (*os.File, error){func() (*os.File, error) { return stream, nil }},
	}
}

// revive feeds QEMU the snapshot and brings the guest to life: its clock, its randomness and its names are this run's
// before any world exists.
func revive(ctx context.Context, proc *process, spec sandbox.Spec, feed func() error) (*guestclient.Client, error) {
	fed := make(chan struct{})
	var unfed error
	go func() { // ends with QEMU, which holds the pipe's other end
		defer close(fed)
		unfed = feed()
	}()
	var client *guestclient.Client
	err := proc.while(ctx, restorePatience, func(ctx context.Context) error {
		select {
		case <-fed:
			if unfed != nil {
				return unfed
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		var err error
		client, err = guestclient.New(ctx, proc.channel, spec.Door)
		return err
	})
	select {
	case <-proc.exited:
		// QEMU may choke on the bytes before all of them are looked at: whether they are to blame is known then.
		if <-fed; err != nil && errors.Is(unfed, errUnfit) {
			err = unfed
		}
	default:
	}
	return client, err
}

// feed gives QEMU the snapshot's bytes, and the last of them only when the digest over all is right.
func (s store) feed(to io.WriteCloser, file io.Reader, snap Snapshot) error {
	defer to.Close()
	h := s.newSum()
	_, failed := io.Copy(to, io.TeeReader(io.LimitReader(file, max(snap.Size-heldBack, 0)), h))
	// Also when QEMU has choked on them: whether the bytes are to blame decides what becomes of the snapshot.
	last, err := io.ReadAll(io.TeeReader(io.LimitReader(file, maxSnapshot), h))
	if err != nil {
		return fmt.Errorf("%w: reading it: %w", errUnfit, err)
	}
	if subtle.ConstantTimeCompare([]byte(hexSum(h)), []byte(snap.sha256)) == 0 {
		return fmt.Errorf("%w: its bytes have another digest", errUnfit)
	}
	if failed == nil {
		_, failed = to.Write(last)
	}
	if failed != nil {
		return fmt.Errorf("giving QEMU the snapshot: %w", failed)
	}
	return nil
}

// discard removes a snapshot that failed and returns the reason for the boot. One that was whole failed for a cause that
// the next would meet too: that is noted, so that runs do not pay for it again and again.
func (s store) discard(snap Snapshot, why error, whole bool) string {
	_ = snap.Remove()
	if whole {
		_ = s.refuse(why)
	}
	return "the snapshot failed: " + why.Error()
}
