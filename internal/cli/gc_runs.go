package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// retention is what --runs-older asks for.
type retention struct {
	before time.Time // runs that ended before
	bodies bool      // of which only the bodies go
	by     string    // who asks, for the record
}

// oldRun is a run that is removed, or whose bodies are.
type oldRun struct {
	Run     string `json:"run"`
	Ended   string `json:"ended,omitempty"` // "" for one whose removal had begun
	What    string `json:"what"`            // run | bodies
	Objects int    `json:"objects"`         // that no other run needs
	Bytes   int64  `json:"bytes"`           // of these and of what lies in the run's directory

	run     state.Run
	begun   bool     // the intent is on record already
	objects []string // digests
}

// keptRun is an old run that is left alone.
type keptRun struct {
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

const (
	wholeRun   = "run"
	onlyBodies = "bodies"
)

// parseRetention reads the flags; nil when nothing is asked for.
func (a *app) parseRetention(cmd *cobra.Command, older string, bodies bool) (*retention, error) {
	if !cmd.Flags().Changed("runs-older") {
		if bodies {
			return nil, usage(errors.New("--bodies says what --runs-older removes"), "joy gc --runs-older 30d --bodies")
		}
		return nil, nil
	}
	age, err := parseAge(older)
	if err != nil {
		return nil, err
	}
	command := "joy gc --runs-older " + older
	if bodies {
		command += " --bodies"
	}
	return &retention{time.Now().Add(-age), bodies, byUser(command)}, nil
}

// retain removes old runs of the project here, or their bodies. What an earlier call had begun is finished whatever its age.
// Nobody stores in the project meanwhile, so that what is needed by nobody now stays so.
func (a *app) retain(r *retention, dryRun bool) ([]*oldRun, []keptRun, error) {
	dir, err := a.existingState(a.dir)
	if err != nil {
		return nil, nil, err
	}
	open := artifact.OpenAlone
	if dryRun {
		open = artifact.OpenExisting
	}
	store, err := open(dir.ObjectsDir())
	switch {
	case errors.Is(err, artifact.ErrInUse):
		return nil, nil, fault.New(fault.Platform, "a run goes on in this project: nothing of its old runs was removed").
			At(a.relative(dir.Path()), 0, 0).WithHint("again when it has ended")
	case err != nil && (!dryRun || !errors.Is(err, fs.ErrNotExist)):
		return nil, nil, err
	case err == nil:
		defer store.Close()
	}
	index := state.OpenIndex(a.cfg.Dirs.State)
	old, kept, err := a.oldRuns(index, dir, r)
	if err == nil {
		err = measure(store, dir, index, old)
	}
	if err == nil && !dryRun {
		err = errors.Join(removeOld(index, store, r, old), sweepRemoved(dir))
	}
	return old, kept, err
}

// oldRuns chooses, the newest first, and says of the others that are old why they stay.
func (a *app) oldRuns(index *state.Index, dir *state.Dir, r *retention) (old []*oldRun, kept []keptRun, err error) {
	runs, err := dir.Runs()
	if err != nil {
		return nil, nil, err
	}
	lives, err := index.List()
	if err != nil {
		return nil, nil, err
	}
	for _, run := range runs {
		o, reason, err := a.oldRun(index, lives, run, r)
		if err != nil {
			return nil, nil, err
		}
		if o != nil {
			old = append(old, o)
		} else if reason != "" {
			kept = append(kept, keptRun{run.ID, reason})
		}
	}
	return old, kept, nil
}

// oldRun judges one run. Both results are empty for one that is not old, or has no bodies any more.
func (a *app) oldRun(index *state.Index, lives []state.Live, run state.Run, r *retention) (*oldRun, string, error) {
	h, err := index.Head(run.ID)
	intent, end := readMaintenance(index, run.Dir, run.ID, "").vouched()
	begun := intent != nil && end == nil
	switch {
	case err == nil && h.Removed != nil:
		return &oldRun{Run: run.ID, What: wholeRun, run: run, begun: true}, "", nil
	case !begun && !began(run).Before(r.before):
		return nil, "", nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, "your index of runs does not know it", nil
	case err != nil:
		return nil, "", err
	case slices.ContainsFunc(lives, func(l state.Live) bool { return l.Run == run.ID }):
		return nil, "it goes on, or joy gc could not clear it", nil
	}
	v, err := a.judgeRun(run, verifyOptions{})
	if err != nil {
		return nil, "", err
	}
	if v.State != verify.Complete {
		return nil, fmt.Sprintf("its ledger is %s: %s", v.State, v.Problem), nil
	}
	if !begun && (!v.Ended.Before(r.before) || r.bodies && end != nil) {
		return nil, "", nil
	}
	what := wholeRun
	if begun || r.bodies {
		what = onlyBodies
	}
	return &oldRun{Run: run.ID, Ended: stampUTC(v.Ended), What: what, run: run, begun: begun}, "", nil
}

// began is when a run began, by its id.
func began(run state.Run) time.Time {
	t, err := time.Parse("20060102-150405", run.ID[:min(len(run.ID), 15)])
	if err != nil {
		return time.Time{} // an id that names no time is judged by its ledger
	}
	return t
}
