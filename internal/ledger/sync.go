package ledger

import (
	"errors"
	"runtime"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Sync returns once every entry written so far is on the disk.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	return w.syncTo(w.seq)
}

// syncTo returns once the entry seq is on the disk. The first who comes syncs for all who wrote before; whoever
// wrote meanwhile waits and the first of them syncs next. The caller holds mu, which is released while waiting.
func (w *Writer) syncTo(seq int64) error {
	for w.synced < seq {
		if w.err != nil {
			return w.err
		}
		if w.syncing {
			w.settled.Wait()
			continue
		}
		w.syncing = true
		upTo := w.gather()
		w.mu.Unlock()
		err := w.flush()
		w.mu.Lock()
		w.syncing = false
		w.settled.Broadcast()
		if err != nil {
			// What a failed sync left on the disk is unknown, and a second one would claim success
			// (https://wiki.postgresql.org/wiki/Fsync_Errors): the ledger ends here.
			w.err = fault.Wrap(fault.Platform, err, "sync ledger")
			return w.err
		}
		w.synced = upTo
	}
	return nil
}

// gather lets those who are about to append do so, and returns the seq that a sync then covers. Whoever was woken by the
// last sync has an entry ready: without this the first of them would sync for itself alone, and every second sync be
// wasted. It waits for nobody who is not running. The caller holds mu.
func (w *Writer) gather() int64 {
	for {
		seq := w.seq
		w.mu.Unlock()
		runtime.Gosched()
		w.mu.Lock()
		if w.seq == seq {
			return seq
		}
	}
}

func (w *Writer) flush() error {
	if w.file == nil {
		return nil
	}
	return datasync(w.file)
}

// syncSoon makes sure a sync happens within SyncWithin. The caller holds mu.
func (w *Writer) syncSoon() {
	if w.timer != nil || w.file == nil {
		return
	}
	w.timer = time.AfterFunc(SyncWithin, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = nil
		if !w.closed {
			_ = w.syncTo(w.seq) // the error stays in w.err and stops the next call
		}
	})
}

// Close syncs, unlocks and closes the file, and then waits until the tee has got every line. It returns the first
// error of the file, if any; a tee that failed is no error (see TeeErr). Later calls do nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	err := w.syncTo(w.seq)
	w.closed = true
	if err == nil {
		err = w.err
	}
	w.mu.Unlock()
	if w.file != nil {
		if cerr := w.file.Close(); cerr != nil {
			err = errors.Join(err, fault.Wrap(fault.Platform, cerr, "close ledger"))
		}
	}
	if w.tee != nil {
		w.tee.close()
	}
	return err
}

// TeeErr is the error that ended the tee, or nil.
func (w *Writer) TeeErr() error {
	if w.tee == nil {
		return nil
	}
	return w.tee.failure()
}
