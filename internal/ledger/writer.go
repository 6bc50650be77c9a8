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
	beside   bool // it is the maintenance of a run, beside its ledger

	mu       sync.Mutex
	seq      int64
	prev     string // hash of the last line, or the plan digest
	tree     tree   // over the lines
	sealing  string // the line that is run.sealed, when it was there already
	last     Type
	finished bool
	at       time.Time // of the last line
	lines    []byte    // recorded, and not handed to the operating system yet
	err      error     // first failure of the file; it stays
	closed   bool
	synced   int64       // every entry up to this seq is on the disk
	syncing  bool        // somebody syncs, or is about to
	next     *batch      // who waits for the sync after that; nil: nobody
	timer    *time.Timer // syncs what Append left behind

	// Of who leads, without mu: the lead is handed on through it.
	took     time.Duration // the last sync
	released int32         // how many waited for it
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
	body, err := encode(typ, data)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.record(typ, step, body); err != nil {
		return 0, err
	}
	if err := w.write(); err != nil {
		return 0, err
	}
	w.syncSoon()
	return w.seq, nil
}

// Effect records an entry and returns once it and every entry before it are on the disk: only then may the effect
// begin. On an error it must not.
func (w *Writer) Effect(typ Type, step string, data Data) (int64, error) {
	body, err := encode(typ, data)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	if err := w.record(typ, step, body); err != nil {
		w.mu.Unlock()
		return 0, err
	}
	seq := w.seq
	if err := w.sync(); err != nil {
		return 0, err
	}
	return seq, nil
}

// encode is what takes no lock of recording an entry.
func encode(typ Type, data Data) ([]byte, error) {
	body, err := appendValue(nil, data, 0)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "record %s", typ)
	}
	return body, nil
}

// record makes the entry's line the next one. The caller holds mu and sees to write or sync.
func (w *Writer) record(typ Type, step string, body []byte) error {
	if w.closed {
		return ErrClosed
	}
	if w.err != nil {
		return w.err
	}
	if why := w.allowed(typ); why != "" {
		return fault.New(fault.Platform, "record %s: %s", typ, why)
	}
	from := len(w.lines)
	l := line{seq: w.seq + 1, at: w.tick(), run: w.run, typ: typ, step: step, data: body, prev: w.prev}
	lines, hash, err := l.append(w.lines)
	if err == nil && len(lines)-from > MaxLine {
		err = fmt.Errorf("%d bytes are more than the %d an entry may have", len(lines)-from, MaxLine)
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "record %s", typ)
	}
	w.lines = lines
	w.step(hash, typ, l.at, lines[from:len(lines)-1])
	return nil
}

// write hands what was recorded to the operating system and then to the tee. The caller holds mu.
func (w *Writer) write() error {
	if w.err != nil || len(w.lines) == 0 {
		return w.err
	}
	if w.file != nil {
		if _, err := w.file.Write(w.lines); err != nil {
			w.err = fault.Wrap(fault.Platform, err, "write ledger")
			return w.err
		}
	}
	if w.tee != nil {
		w.tee.put(w.lines)
	}
	w.lines = w.lines[:0]
	return nil
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
