package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// ErrClosed is returned by every call after Close.
var ErrClosed = errors.New("the ledger is closed")

var (
	runID    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	digestID = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// Writer appends to one ledger. It is safe for concurrent use: entries are totally ordered, and callers of Effect
// that wait at the same time share one sync. The owner calls Close, once nobody appends any more.
type Writer struct {
	run  string
	plan string // its digest
	dir  string // "" when the ledger is only teed
	now  func() time.Time
	file *os.File // nil: the ledger is only teed
	tee  *tee

	reopened bool // it goes on with what a stopped process left

	mu       sync.Mutex
	seq      int64
	prev     string // hash of the last line, or the plan digest
	tree     tree   // over the lines
	sealing  string // the line that is run.sealed, when it was there already
	last     Type
	finished bool
	at       time.Time // of the last line
	buf      []byte
	err      error // first failure of the file; it stays
	closed   bool
	synced   int64 // every entry up to this seq is on the disk
	syncing  bool
	settled  *sync.Cond  // a sync ended
	timer    *time.Timer // syncs what Append left behind
}

// Create makes dir's ledger, which must not exist yet, and locks it: one ledger has one writer. dir must exist.
// run is 1 to 64 of A-Z a-z 0-9 _ -; planDigest is "sha256:" and 64 hex digits.
func Create(dir, run, planDigest string, opts Options) (*Writer, error) {
	w, err := newWriter(run, planDigest, opts)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, FileName)
	// #nosec G304 -- O_EXCL creates the file and follows no link in its place.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR|noFollow, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "create ledger")
	}
	if err := errors.Join(lock(f), syncDir(dir)); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Platform, err, "create ledger"), f.Close())
	}
	w.dir = dir
	w.start(f, opts)
	return w, nil
}

// Memory makes a ledger without a file: entries go to Options.Tee alone, chained as always. It serves runs that
// leave nothing behind.
func Memory(run, planDigest string, opts Options) (*Writer, error) {
	w, err := newWriter(run, planDigest, opts)
	if err != nil {
		return nil, err
	}
	w.start(nil, opts)
	return w, nil
}

func newWriter(run, planDigest string, opts Options) (*Writer, error) {
	if !runID.MatchString(run) {
		return nil, fault.New(fault.Platform, "open ledger: %q is no run id", run)
	}
	if !digestID.MatchString(planDigest) {
		return nil, fault.New(fault.Platform, "open ledger: %q is no plan digest", planDigest)
	}
	w := &Writer{run: run, plan: planDigest, prev: planDigest, now: opts.Now}
	if w.now == nil {
		w.now = time.Now
	}
	w.settled = sync.NewCond(&w.mu)
	return w, nil
}

func (w *Writer) start(f *os.File, opts Options) {
	w.file = f
	if opts.Tee != nil {
		w.tee = newTee(opts.Tee)
	}
}

// Append records an entry and returns its seq. It is handed to the operating system at once and is on the disk
// within SyncWithin. An entry that may not be written (an unknown type, data that cannot be recorded) is an error
// that leaves the ledger as it was.
func (w *Writer) Append(typ Type, step string, data Data) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seq, err := w.append(typ, step, data)
	if err == nil {
		w.syncSoon()
	}
	return seq, err
}

// Effect records an entry and returns once it and every entry before it are on the disk: only then may the effect
// begin. On an error it must not.
func (w *Writer) Effect(typ Type, step string, data Data) (int64, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seq, err := w.append(typ, step, data)
	if err != nil {
		return 0, err
	}
	return seq, w.syncTo(seq)
}

// append writes one line. The caller holds mu.
func (w *Writer) append(typ Type, step string, data Data) (int64, error) {
	if w.closed {
		return 0, ErrClosed
	}
	if w.err != nil {
		return 0, w.err
	}
	if why := w.allowed(typ); why != "" {
		return 0, fault.New(fault.Platform, "record %s: %s", typ, why)
	}
	body, err := appendValue(nil, data, 0)
	if err != nil {
		return 0, fault.Wrap(fault.Platform, err, "record %s", typ)
	}
	l := line{seq: w.seq + 1, at: w.tick(), run: w.run, typ: typ, step: step, data: body, prev: w.prev}
	buf, hash, err := l.append(w.buf[:0])
	if err == nil && len(buf) > MaxLine {
		err = fmt.Errorf("%d bytes are more than the %d an entry may have", len(buf), MaxLine)
	}
	if err != nil {
		return 0, fault.Wrap(fault.Platform, err, "record %s", typ)
	}
	w.buf = buf
	if w.file != nil {
		if _, err := w.file.Write(buf); err != nil {
			w.err = fault.Wrap(fault.Platform, err, "write ledger")
			return 0, w.err
		}
	}
	w.step(hash, typ, l.at, buf[:len(buf)-1])
	if w.tee != nil {
		w.tee.put(buf)
	}
	return w.seq, nil
}

// step moves the state behind one more line, which is given without its newline.
func (w *Writer) step(hash string, typ Type, at time.Time, line []byte) {
	w.seq, w.prev, w.last, w.at = w.seq+1, hash, typ, at
	w.finished = w.finished || typ == RunFinished
	w.tree.add(line)
}

// tick is the time of the next entry: the clock's, unless that went back.
func (w *Writer) tick() time.Time {
	now := w.now().UTC().Truncate(time.Millisecond)
	if now.Before(w.at) {
		return w.at
	}
	return now
}

// Head is the seq and hash of the last entry; before the first entry 0 and the plan digest.
func (w *Writer) Head() (seq int64, hash string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq, w.prev
}
