package microvm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// makeLimit bounds the making of a snapshot. It takes little more than a cold boot.
const makeLimit = 90 * time.Second

// maxSnapshot bounds the file, in bytes: a guest that has done nothing has a tenth of it in memory.
const maxSnapshot = 1 << 30

// warmWord on the kernel's command line makes joy-guest read, before its ready line, what every run will read.
const warmWord = " joy.warm=1"

// MakeSnapshot makes the snapshot that Create could have started spec from, unless there is one already or another
// process is making one. It boots a VM of its own, which runs nothing of any plan and is destroyed before MakeSnapshot
// returns; spec.Started is told of it. made is false when there was nothing to do. A file is there as a whole or not
// at all: what a killed maker leaves, the next one removes.
func (p *Provider) MakeSnapshot(ctx context.Context, spec sandbox.Spec) (made bool, err error) {
	m, err := p.machine(spec)
	if err != nil {
		return false, err
	}
	if m.accel, err = p.accelerator(ctx, m); err != nil {
		return false, err
	}
	s, err := m.store()
	if err != nil || s.refused() != "" {
		return false, err
	}
	unlock, err := s.lock()
	if unlock == nil {
		return false, err
	}
	defer unlock()
	if _, ok, err := s.find(); ok || err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, makeLimit, fmt.Errorf("it took longer than %s", makeLimit))
	defer cancel()
	if err := m.makeSnapshot(ctx, s, spec.Started); err != nil {
		return false, fmt.Errorf("making a snapshot: %w", err)
	}
	s.trim(snapshotBudget)
	return true, nil
}

// lock lets one process at a time make snapshots. unlock is nil when another one does.
func (s store) lock() (unlock func(), err error) {
	fd, err := unix.Open(filepath.Join(s.dir, "lock"), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		unix.Close(fd)
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = nil
		}
		return nil, err
	}
	return func() { unix.Close(fd) }, nil
}

// partName is the file of a snapshot in the making. There is one, because there is one maker.
const partName = "making.part"

// making starts the kernel as booting does, with a monitor to save the guest by.
func (m *machine) making(monitor *os.File) way {
	w := m.booting(warmWord)
	fd := fdFirst + len(w.files)
	w.args = append(w.args, "-chardev", "socket,id=monitor,fd="+strconv.Itoa(fd), "-mon", "chardev=monitor,mode=control")
	w.files = append(w.files, func() (*os.File, error) { return monitor, nil })
	return w
}

func (m *machine) makeSnapshot(ctx context.Context, s store, started func(string) error) (err error) {
	maker := *m
	maker.disk = m.snapshotDisk()
	ours, theirs, err := socketpair()
	if err != nil {
		return err
	}
	defer ours.Close()
	proc, err := maker.begin(maker.making(theirs), started)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, proc.destroy()) }()
	if err := proc.awaitReady(ctx); err != nil {
		return proc.explain(err)
	}
	mon, err := newMonitor(ctx, ours)
	if err != nil {
		return proc.explain(err)
	}
	defer mon.Close()
	part := filepath.Join(s.dir, partName)
	_ = os.Remove(part)
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(part)
	sum, err := save(ctx, mon, s, out)
	err = errors.Join(err, out.Chmod(0o400), out.Sync(), out.Close())
	if err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(s.dir, s.image+"."+s.key+"."+sum+".ram"))
}

// save stops the guest and writes its state to out; it returns the digest. QEMU has a pipe and not the file.
func save(ctx context.Context, mon *monitor, s store, out io.Writer) (string, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer from.Close()
	stop := context.AfterFunc(ctx, func() { _ = from.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	h := s.newSum()
	copied := make(chan error, 1)
	go func() {
		n, err := io.Copy(io.MultiWriter(out, h), io.LimitReader(from, maxSnapshot+1))
		if err == nil && n > maxSnapshot {
			err = fmt.Errorf("the guest's state is larger than %d bytes", maxSnapshot)
		}
		from.Close() // QEMU must not wait for a reader that has gone
		copied <- err
	}()
	err = saveTo(mon, to)
	to.Close()
	if err != nil {
		from.Close()
		return "", errors.Join(err, context.Cause(ctx), <-copied)
	}
	if err := <-copied; err != nil {
		return "", err
	}
	return hexSum(h), nil
}

func saveTo(mon *monitor, to *os.File) error {
	for _, c := range []struct {
		command   string
		arguments map[string]any
		files     []*os.File
	}{
		{"migrate-set-capabilities", map[string]any{"capabilities": []any{map[string]any{"capability": "events", "state": true}}}, nil},
		{"migrate-set-parameters", map[string]any{"max-bandwidth": int64(1) << 40}, nil},
		{"getfd", map[string]any{"fdname": "snapshot"}, []*os.File{to}},
		{"migrate", map[string]any{"uri": "fd:snapshot"}, nil},
	} {
		if err := mon.do(c.command, c.arguments, c.files...); err != nil {
			return err
		}
	}
	state, err := mon.await("MIGRATION", "completed", "failed")
	if err == nil && state != "completed" {
		err = errors.New("QEMU could not save the guest")
	}
	return err
}
