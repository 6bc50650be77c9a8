package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
)

// MaintenanceName is the file beside a ledger that says what joy did to the run after its end.
const MaintenanceName = "maintenance.jsonl"

// What joy does to a run after its end. These types stand in MaintenanceName and never in a ledger.
const (
	RunCleared     Type = "run.cleared"     // its joy had died
	BodiesRemoving Type = "bodies.removing" // intent, durable before the first is gone
	BodiesRemoved  Type = "bodies.removed"  // all are
)

var maintenanceTypes = []Type{RunCleared, BodiesRemoving, BodiesRemoved}

// OpenMaintenance goes on with the maintenance of a run in dir, or begins it. Its lines have the form of a ledger's; the
// first follows head, the hash of the ledger's last line. A torn end is cut off and kept as Reopen does, without an entry
// of its own: what was not written whole was not begun. It fails with kind Ledger when a line does not belong to the chain.
// The caller closes the Writer.
func OpenMaintenance(dir, run, head string) (*Writer, error) {
	w, err := newWriter(run, head, Options{})
	if err != nil {
		return nil, err
	}
	w.beside = true
	path := filepath.Join(dir, MaintenanceName)
	// #nosec G304 -- O_EXCL creates the file and follows no link in its place.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_APPEND|os.O_RDWR|noFollow, 0o600)
	if err == nil {
		err = errors.Join(f.Close(), syncDir(dir))
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fault.Wrap(fault.Platform, err, "begin the maintenance of the run")
	}
	if f, err = openExisting(path); err != nil {
		return nil, err
	}
	torn, err := w.resume(f, path)
	if err == nil && len(torn) > 0 {
		err = cut(f, dir, MaintenanceName+tornSuffix, torn)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	w.start(f, Options{})
	return w, nil
}

// Head is the hash of the last line; before the first what that will follow.
func (w *Writer) Head() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.prev
}
