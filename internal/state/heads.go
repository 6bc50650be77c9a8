package state

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// Head is what the user's index keeps of a run's ledger, outside the project: a ledger that was deleted, cut or written
// anew there does not match it any more.
type Head struct {
	Run      string `json:"run"`
	StateDir string `json:"state_dir"` // absolute; where the run was recorded
	Entries  int64  `json:"entries"`   // 0 until the run has ended
	Head     string `json:"head"`      // hash of the last entry

	// Maintenance is the hash of a line of maintenance.jsonl beside the ledger: the last when it was written here.
	Maintenance string `json:"maintenance,omitempty"`
	// Removed says that joy removed the run with its ledger, or has begun to; nil: it should be there.
	Removed *Removal `json:"removed,omitempty"`
}

// Removal is when and by whom a run was removed.
type Removal struct {
	Time time.Time `json:"time"`
	By   string    `json:"by"` // the user and the command
}

// PutHead adds or replaces the head of a run; it is durable when PutHead returns.
func (x *Index) PutHead(h Head) error { return put(x.heads, h.Run, h, "index of heads") }

// RemoveHead takes out a run that did not begin. One that is not there is no error.
func (x *Index) RemoveHead(run string) error {
	if !ValidID(run) {
		return fault.New(fault.Input, "run id %q is not YYYYMMDD-HHMMSS-xxxxxx", run)
	}
	if err := os.Remove(filepath.Join(x.heads, run+".json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Platform, err, "remove the run from the index of heads")
	}
	return nil
}

// Head returns what is kept of a run, wherever it was recorded; fs.ErrNotExist is in the tree when there is nothing.
func (x *Index) Head(run string) (Head, error) {
	var h Head
	if !ValidID(run) {
		return h, fs.ErrNotExist
	}
	if err := checkDir(x.heads); err != nil {
		return h, err
	}
	path := filepath.Join(x.heads, run+".json")
	data, err := ordinary.Read(path, maxLive)
	if errors.Is(err, fs.ErrNotExist) {
		return h, err
	}
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	if err == nil && h.Run != run {
		err = errors.New("it names the run " + h.Run)
	}
	if err != nil {
		return h, fault.Wrap(fault.Platform, err, "read the head of the run").At(path, 0, 0)
	}
	return h, nil
}

// Heads returns what is kept of the runs that were recorded in stateDir, by id.
func (x *Index) Heads(stateDir string) ([]Head, error) {
	entries, err := os.ReadDir(x.heads)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "list the index of heads")
	}
	var list []Head
	var bad []error
	for _, e := range entries {
		run, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !ValidID(run) || !e.Type().IsRegular() {
			continue
		}
		h, err := x.Head(run)
		if err != nil {
			bad = append(bad, err)
		} else if h.StateDir == stateDir {
			list = append(list, h)
		}
	}
	return list, errors.Join(bad...)
}
