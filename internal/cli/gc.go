package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

func newGCCmd(a *app) *cobra.Command {
	var dryRun, cache, bodies bool
	var unused, older string
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Destroy what a crashed run left",
		Long: "gc looks through your index of live runs. A run whose joy is gone is cleared: a VM of it that still lives is\n" +
			"destroyed. With E2B_API_KEY set it also looks there for sandboxes with your signature whose run nobody knows. Runs of a\n" +
			"living joy and everything else are left alone.\n\n" +
			"With --cache it also removes what the cache holds and nothing needs: images that no profile means, no run holds\n" +
			"and none has used for long, memory snapshots likewise, initrds of other images and joys, what interrupted builds\n" +
			"left, and Debian's packages. All of it is made again when it is needed.\n\n" +
			"With --runs-older it also removes runs of this project that ended longer ago, with --bodies only what they printed,\n" +
			"were given and left: their ledgers and seals stay and can be verified. What a run needs that is kept, stays. A run\n" +
			"that goes on, and one whose ledger is not complete, is never touched.",
		Args: noArgs,
		Example: "  joy gc --dry-run\n" +
			"  joy gc --cache --unused 7d\n" +
			"  joy gc --runs-older 12w --bodies --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			var age time.Duration
			if cache {
				var err error
				if age, err = parseAge(unused); err != nil {
					return err
				}
			} else if cmd.Flags().Changed("unused") {
				return usage(errors.New("--unused says what --cache removes"), "joy gc --cache --unused %s", unused)
			}
			r, err := a.parseRetention(cmd, older, bodies)
			if err != nil {
				return err
			}
			left, err := a.reap(cmd.Context(), dryRun)
			tagged, tagErr := a.reapTagged(cmd.Context(), dryRun)
			left, err = append(left, tagged...), errors.Join(err, tagErr)
			g := gcResult{Schema: "joy.gc/1", DryRun: dryRun, Runs: left}
			if r != nil && err == nil {
				g.Old, g.Kept, err = a.retain(r, dryRun)
			}
			if cache {
				var cerr error
				g.Cache, cerr = a.clearCache(cmd.Context(), age, dryRun)
				err = errors.Join(err, cerr)
			}
			return errors.Join(a.printGC(g, cache && err == nil), err)
		},
	}
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "only list what would be cleared")
	cmd.Flags().BoolVar(&cache, "cache", false, "also remove what nothing needs from the cache")
	cmd.Flags().StringVar(&unused, "unused", "30d", "with --cache, remove images and snapshots not used for `TIME` (30d, 12h)")
	cmd.Flags().StringVar(&older, "runs-older", "", "also remove runs of this project that ended longer ago than `TIME` (30d, 12w, 720h)")
	cmd.Flags().BoolVar(&bodies, "bodies", false, "with --runs-older, remove only bodies: output, inputs, artifacts, arguments and results")
	return cmd
}

// leftover is a run whose joy is gone.
type leftover struct {
	Run   string   `json:"run"`
	Dir   string   `json:"dir"`
	VMs   []string `json:"vms"`
	Alive []string `json:"alive"`          // VMs that were still there
	Torn  string   `json:"torn,omitempty"` // why the end of its ledger could not be mended
	Head  string   `json:"head,omitempty"` // of its ledger, which was sealed now
}

// reap clears the runs of the index whose joy is gone.
func (a *app) reap(ctx context.Context, dryRun bool) ([]leftover, error) {
	index := state.OpenIndex(a.cfg.Dirs.State)
	lives, err := index.List()
	errs := []error{err}
	var left []leftover
	for _, live := range lives {
		if live.Alive() {
			continue
		}
		l := leftover{Run: live.Run, Dir: filepath.Join(live.StateDir, "runs", live.Run), VMs: live.VM}
		for _, id := range live.VM {
			alive, err := a.vmAlive(ctx, id)
			if err != nil && dryRun {
				errs = append(errs, err)
			}
			if alive {
				l.Alive = append(l.Alive, id)
			}
		}
		if !dryRun {
			errs = append(errs, a.clear(ctx, index, &l))
		}
		left = append(left, l)
	}
	if !dryRun {
		errs = append(errs, index.Sweep())
	}
	return left, errors.Join(errs...)
}

// clear destroys the VMs first, then says so beside the ledger, and forgets the run last: whatever fails is found again.
func (a *app) clear(ctx context.Context, index *state.Index, l *leftover) error {
	for _, id := range l.Alive {
		if err := a.reapVM(ctx, id); err != nil {
			return vmStays(err, id, l.Run)
		}
	}
	if err := checkRecord(l); err != nil {
		return err
	}
	if _, err := index.Head(l.Run); errors.Is(err, fs.ErrNotExist) {
		// Its ledger is empty: the first entry is not written before the index has a head to be compared with.
		return errors.Join(sweepLeftover(l), os.RemoveAll(l.Dir), index.Remove(l.Run))
	}
	if err := a.recoverLedger(index, l); err != nil {
		l.Torn = err.Error() // it stays as it is, and verify says so
	}
	if err := errors.Join(a.noteCleared(index, l), sweepLeftover(l)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return index.Remove(l.Run)
}

// checkRecord refuses a record that somebody has put a link in the place of, since its run began: nothing is written or removed
// through it. A project that is gone has none.
func checkRecord(l *leftover) error {
	dir, err := state.OpenExisting("", filepath.Dir(filepath.Dir(l.Dir)))
	if err == nil {
		_, err = dir.Run(l.Run)
	}
	if errors.Is(err, state.ErrNone) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sweepLeftover removes what the dead joy was about to write: beside the ledger, and in the store unless another run of the
// project uses it, whose own clearing or the next does it then.
func sweepLeftover(l *leftover) error {
	names, err := filepath.Glob(filepath.Join(l.Dir, ".new-*"))
	errs := []error{err}
	for _, name := range names {
		errs = append(errs, os.Remove(name))
	}
	store, err := artifact.OpenAlone(filepath.Join(filepath.Dir(filepath.Dir(l.Dir)), "objects"))
	if err == nil {
		err = errors.Join(store.Sweep(), store.Close())
	}
	if !errors.Is(err, artifact.ErrInUse) && !errors.Is(err, fs.ErrNotExist) { // a run goes on; or the project is gone
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// recoverLedger cuts off what a crash left of a line, keeps those bytes beside the ledger, says so in it, and seals it as
// it is. It stays incomplete, since nobody knows what happened after its last entry, nor who wrote there since. A ledger
// that the run had sealed itself is left alone; a seal that it owed is written when it ends as the index says.
func (a *app) recoverLedger(index *state.Index, l *leftover) error {
	t, err := readTarget(l.Dir, filepath.Join(l.Dir, build.LockName), l.Run)
	if err != nil {
		return err
	}
	key, err := a.workspaceKey(t.plan.Agent.Workspace)
	if err != nil {
		return err
	}
	w, err := ledger.Reopen(l.Dir, l.Run, t.plan.Digest, ledger.Options{})
	if errors.Is(err, ledger.ErrSealed) {
		head, err := index.Head(l.Run)
		if err != nil {
			return err
		}
		seal, err := ledger.Reseal(l.Dir, l.Run, t.plan.Digest, key, ledger.Seal{Entries: head.Entries, Head: head.Head})
		l.Head = seal.Head
		return err
	}
	if err != nil {
		return err
	}
	var unnoted error
	seal, err := w.Seal(key, func(end ledger.Seal) {
		unnoted = index.PutHead(headOf(l.Run, filepath.Dir(filepath.Dir(l.Dir)), end))
	})
	l.Head = seal.Head
	return errors.Join(err, unnoted, w.Close())
}

// reapQuietly clears what an earlier crash left before a new run begins. It never stops that run.
func (a *app) reapQuietly(ctx context.Context) {
	left, err := a.reap(ctx, false)
	if err != nil {
		a.warn("clearing what an earlier run left: %v; see joy gc", err)
	}
	for _, l := range left {
		a.detail("cleared run %s, whose joy had died", l.Run)
	}
}
