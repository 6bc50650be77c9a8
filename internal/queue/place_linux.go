package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/state"
)

// poll is how often a waiting run looks again. Memory becomes free without telling anybody, and flock(2) cannot be
// cancelled, so there is nothing to wait on. lockPoll is the same for the lock, which is held for a look only.
const (
	poll     = 200 * time.Millisecond
	lockPoll = 5 * time.Millisecond
)

// maxTicket bounds the file of a place, in bytes.
const maxTicket = 4 << 10

const placeSuffix = ".vm"

// place is a run's place in the queue, waiting or not.
type place struct {
	queue *Queue
	file  *os.File // locked as long as it is open
	ticket
}

func (q *Queue) enter(ctx context.Context, run string, n Need, waiting func(string)) (func(), error) {
	if err := state.PrivateDir(q.Dir); err != nil {
		return nil, err
	}
	p := &place{queue: q, ticket: ticket{Run: run, Holder: state.Self(), Need: n}}
	if err := q.locked(ctx, p.take); err != nil {
		return nil, errors.Join(err, p.leave())
	}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for told := false; ; told = true {
		var reason string
		err := q.locked(ctx, func() (err error) {
			reason, err = p.advance()
			return err
		})
		switch {
		case err != nil:
			return nil, errors.Join(err, p.leave())
		case reason == "":
			return func() { _ = p.leave() }, nil
		case !told && waiting != nil:
			waiting(reason)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), p.leave())
		}
	}
}

// locked does something while nobody else looks at the queue or changes it.
func (q *Queue) locked(ctx context.Context, do func() error) error {
	f, err := os.OpenFile(filepath.Join(q.Dir, "lock"), os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "open the queue of VMs")
	}
	defer f.Close()
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return do()
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return fault.Wrap(fault.Platform, err, "lock the queue of VMs")
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take makes the place, behind all that there are. The caller holds the lock.
func (p *place) take() error {
	others, err := p.queue.others("")
	if err != nil {
		return err
	}
	for _, t := range others {
		p.Seq = max(p.Seq, t.Seq)
	}
	p.Seq++
	name := filepath.Join(p.queue.Dir, p.Run+placeSuffix)
	if p.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600); err != nil {
		return fault.Wrap(fault.Platform, err, "take a place in the queue of VMs")
	}
	if err := unix.Flock(int(p.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fault.Wrap(fault.Platform, err, "lock a place in the queue of VMs")
	}
	return p.write()
}

func (p *place) write() error {
	b, err := json.Marshal(p.ticket)
	if err == nil {
		err = p.file.Truncate(0)
	}
	if err == nil {
		_, err = p.file.WriteAt(b, 0)
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "write to the queue of VMs")
	}
	return nil
}

// advance takes the room for the VM when it is there, or says why it is not. The caller holds the lock.
func (p *place) advance() (reason string, err error) {
	others, err := p.queue.others(p.Run)
	if err != nil {
		return "", err
	}
	room, err := p.queue.measure()
	if err != nil {
		return "", err
	}
	var promised Need
	for _, t := range others {
		if t.VM {
			rest := t.rest()
			promised.Memory += rest.Memory
			promised.Disk += rest.Disk
		}
	}
	if reason := p.queue.obstacle(p.ticket, others, room, promised); reason != "" {
		return reason, nil
	}
	p.VM = true
	return "", p.write()
}

// leave gives the place back. Removing comes first: who opens the file afterwards has not found the place.
func (p *place) leave() error {
	if p.file == nil {
		return nil
	}
	return errors.Join(os.Remove(p.file.Name()), p.file.Close())
}

// others are the tickets of living holders but for run's own. What the dead have left is removed. The caller holds the
// lock, so that a place whose file is open without being locked belongs to nobody.
func (q *Queue) others(run string) ([]ticket, error) {
	entries, err := os.ReadDir(q.Dir)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "look at the queue of VMs")
	}
	var list []ticket
	for _, e := range entries {
		name, isPlace := strings.CutSuffix(e.Name(), placeSuffix)
		if !isPlace || name == run {
			continue
		}
		t, held, err := read(filepath.Join(q.Dir, e.Name()))
		if err != nil {
			return nil, fault.Wrap(fault.Platform, err, "look at the queue of VMs").At(filepath.Join(q.Dir, e.Name()), 0, 0)
		}
		if held {
			list = append(list, t)
		}
	}
	return list, nil
}

// read reads a place. One that nobody holds is removed.
func read(name string) (t ticket, held bool, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return t, false, nil // it was given back a moment ago
	}
	if err != nil {
		return t, false, err
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		if err := os.Remove(name); !errors.Is(err, os.ErrNotExist) {
			return t, false, err
		}
		return t, false, nil // it was given back after it was opened
	case !errors.Is(err, unix.EWOULDBLOCK):
		return t, false, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxTicket))
	if err == nil {
		err = json.Unmarshal(b, &t)
	}
	if err != nil {
		return t, false, fmt.Errorf("not a place that this version of joy wrote: %w", err)
	}
	return t, true, nil
}
