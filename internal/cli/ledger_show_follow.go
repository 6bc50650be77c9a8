package cli

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// followEvery is how often a ledger is looked at for more. Asking costs one read; an event of the file system would not
// come for every file system that a project may lie on.
const followEvery = 200 * time.Millisecond

// ledgerFollow shows entries as they are written, until the run ends.
func (a *app) ledgerFollow(ctx context.Context, f io.Reader, shown string, opts showOptions) error {
	view := &ledgerView{app: a, opts: opts, flow: true}
	grows := &growing{ctx: ctx, r: f, over: func() bool { return view.over(a.stillRuns(shown)) }}
	rep, err := verify.Check(grows, verify.Options{Each: view.take})
	if view.err != nil {
		return view.err
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if rep.State == verify.Incomplete {
		a.warn("the run is not going on, and its ledger is incomplete: %s", rep.Problem)
		return nil
	}
	return ledgerFault(shown, rep)
}

// over says whether nothing more is to be waited for: the run is sealed, or nobody writes its ledger.
func (v *ledgerView) over(running bool) bool {
	return v.err != nil || v.last == "run.sealed" || !running
}

// stillRuns says whether a joy is alive whose run has the ledger shown.
func (a *app) stillRuns(shown string) bool {
	path := a.abs(filepath.FromSlash(shown))
	list, _ := state.OpenIndex(a.cfg.Dirs.State).List()
	for _, l := range list {
		if filepath.Join(l.StateDir, "runs", l.Run, ledgerFile) == path && l.Alive() {
			return true
		}
	}
	return false
}

// growing reads a file that somebody else appends to. At its end it waits for more until over says that no more comes.
type growing struct {
	ctx  context.Context //nolint:containedctx // a Reader takes none
	r    io.Reader
	over func() bool
	done bool
}

func (g *growing) Read(b []byte) (int, error) {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		n, err := g.r.Read(b)
		if n > 0 || err != nil && !errors.Is(err, io.EOF) {
			return n, err
		}
		if g.done || g.ctx.Err() != nil {
			return 0, io.EOF
		}
		if g.done = g.over(); g.done {
			continue // what was written before it was over is still to be read
		}
		select {
		case <-tick.C:
		case <-g.ctx.Done():
		}
	}
}
