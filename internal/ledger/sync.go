package ledger

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// batch is those who wait for the same sync.
type batch struct {
	size atomic.Int32  // how many they are
	lead chan struct{} // holds a token when the first of them is to sync for all
	done chan struct{} // closed when the sync has ended
	err  error         // of it; set before done is closed
}

// sync returns once every entry recorded so far is on the disk. The first who comes syncs for all who recorded before;
// whoever records meanwhile waits, and the first of them syncs next. The caller holds mu, and does no more when sync returns.
func (w *Writer) sync() error {
	if w.err != nil {
		defer w.mu.Unlock()
		return w.err
	}
	b := w.next
	if b == nil {
		b = &batch{lead: make(chan struct{}, 1), done: make(chan struct{})}
		w.next = b
	}
	first := b.size.Add(1) == 1
	follow := w.syncing
	w.syncing = true
	w.mu.Unlock()
	if !first {
		<-b.done
		return b.err
	}
	if follow {
		<-b.lead
	}
	w.lead(b)
	return b.err
}

// lead writes and syncs for b, and passes the lead on.
func (w *Writer) lead(b *batch) {
	w.gather(b)
	w.mu.Lock()
	w.next = nil
	upTo, err := w.seq, w.write()
	if err == nil && w.file != nil {
		w.mu.Unlock()
		began := time.Now()
		err = datasync(w.file)
		w.took = time.Since(began)
		w.mu.Lock()
		if err != nil && w.err == nil {
			// What a failed sync left on the disk is unknown, and a second one would claim success
			// (https://wiki.postgresql.org/wiki/Fsync_Errors): the ledger ends here.
			w.err = fault.Wrap(fault.Platform, err, "sync ledger")
		}
	}
	if w.err == nil {
		w.synced = upTo
	}
	b.err = w.err
	close(b.done)
	if w.syncing = w.next != nil; w.syncing {
		w.next.lead <- struct{}{}
	}
	w.mu.Unlock()
}

// gather lets those who are about to record do so. Whoever was released by the last sync has the next entry ready in a
// moment: to sync for the first of them alone would waste a sync. It waits for as many as there were the last time, not
// longer than a quarter of a sync, and for nobody when there was one.
func (w *Writer) gather(b *batch) {
	for until := time.Now().Add(w.took / 4); b.size.Load() < w.released && time.Now().Before(until); {
		runtime.Gosched()
	}
	w.released = b.size.Load()
}

// syncSoon makes sure a sync happens within SyncWithin. The caller holds mu.
func (w *Writer) syncSoon() {
	if w.timer != nil || w.file == nil {
		return
	}
	w.timer = time.AfterFunc(SyncWithin, func() {
		w.mu.Lock()
		w.timer = nil
		if w.closed || w.synced == w.seq {
			w.mu.Unlock()
			return
		}
		_ = w.sync() // the error stays in w.err and stops the next call
	})
}

// Close syncs, unlocks and closes the file, and then waits until the tee has got every line. It returns the first
// error of the file, if any; a tee that failed is no error. Later calls do nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	w.closed = true // nobody records any more, and
	err := w.sync() // whoever syncs does so before this
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
