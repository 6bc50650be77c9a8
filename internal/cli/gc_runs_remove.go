package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

// removedSuffix ends the name of a run's directory whose removal has come so far that nothing of it is read any more.
const removedSuffix = ".removed"

// removeOld removes what was chosen. Every intent is on record before the first byte is gone: an object that two of them
// shared would else be missing from the second, should joy be killed in between.
func removeOld(index *state.Index, store *artifact.Store, r *retention, old []*oldRun) error {
	for _, o := range old {
		if o.begun {
			continue
		}
		if err := o.intend(index, r); err != nil {
			return err
		}
	}
	for _, o := range old {
		if err := store.Remove(o.objects); err != nil {
			return err
		}
		if err := o.remove(index); err != nil {
			return fault.Wrap(fault.Platform, err, "remove %s of run %s", o.What, o.Run).WithHint("joy gc --runs-older goes on where it stopped")
		}
	}
	return nil
}

// intend puts on record what will be removed: beside the ledger, or in the index when nothing stays beside it.
func (o *oldRun) intend(index *state.Index, r *retention) error {
	if o.What == onlyBodies {
		return maintain(index, o.run, func(w *ledger.Writer) error {
			_, err := w.Effect(ledger.BodiesRemoving, "", ledger.Data{"by": r.by, "objects": o.Objects, "bytes": o.Bytes})
			return err
		})
	}
	h, err := index.Head(o.Run)
	if err != nil {
		return err
	}
	h.Removed = &state.Removal{Time: time.Now().UTC().Truncate(time.Second), By: r.by}
	return index.PutHead(h)
}

// remove takes away what lies in the run's directory, and says that all is gone.
func (o *oldRun) remove(index *state.Index) error {
	if o.What == wholeRun {
		gone := o.run.Dir + removedSuffix
		return errors.Join(os.Rename(o.run.Dir, gone), os.RemoveAll(gone))
	}
	if err := os.RemoveAll(filepath.Join(o.run.Dir, logsDirName)); err != nil {
		return err
	}
	return maintain(index, o.run, func(w *ledger.Writer) error {
		_, err := w.Effect(ledger.BodiesRemoved, "", ledger.Data{"objects": o.Objects, "bytes": o.Bytes})
		return err
	})
}

// sweepRemoved takes away what a killed joy left of runs that it was removing.
func sweepRemoved(dir *state.Dir) error {
	names, err := filepath.Glob(filepath.Join(dir.RunsDir(), "*"+removedSuffix))
	errs := []error{err}
	for _, name := range names {
		if state.ValidID(strings.TrimSuffix(filepath.Base(name), removedSuffix)) {
			errs = append(errs, os.RemoveAll(name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fault.Wrap(fault.Platform, err, "remove what is left of old runs")
	}
	return nil
}
