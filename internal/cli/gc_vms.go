package cli

import (
	"context"
	"errors"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
	"github.com/joystream-ai/joy/internal/state"
)

// vmAlive says whether a VM of the index may still be there. An error is that nobody can tell: then it may.
func (a *app) vmAlive(ctx context.Context, id string) (bool, error) {
	if !e2b.IsID(id) {
		return microvm.Alive(id), nil
	}
	p, err := a.e2b()
	if err != nil {
		return true, err
	}
	alive, err := p.Alive(ctx, id)
	return alive || err != nil, err
}

// reapVM destroys a VM of the index.
func (a *app) reapVM(ctx context.Context, id string) error {
	if !e2b.IsID(id) {
		_, err := microvm.Reap(id)
		return err
	}
	p, err := a.e2b()
	if err != nil {
		return err
	}
	_, err = p.Reap(ctx, id)
	return err
}

// lives tells whether a run is one of a living joy, by the index as it is now.
func (a *app) lives() func(run string) bool {
	lives, _ := state.OpenIndex(a.cfg.Dirs.State).List() // what cannot be read is told by gc itself
	living := map[string]bool{}
	for _, live := range lives {
		living[live.Run] = live.Alive()
	}
	return func(run string) bool { return living[run] }
}

// reapTagged destroys sandboxes at E2B that have this user's tags and whose run nobody knows any more, such as those of an
// index that was lost. Without a key there is no account to look at.
func (a *app) reapTagged(ctx context.Context, dryRun bool) ([]leftover, error) {
	if _, ok := a.env.LookupEnv(client.EnvKey); !ok {
		return nil, nil
	}
	p, err := a.e2b()
	if err != nil {
		return nil, err
	}
	orphans, err := p.Orphans(ctx, a.lives())
	errs := []error{err}
	var left []leftover
	for _, o := range orphans {
		l := leftover{Run: o.Run, VMs: []string{o.ID}, Alive: []string{o.ID}}
		if !dryRun {
			// A run may have begun since: the index is read again before each.
			if a.lives()(o.Run) {
				continue
			}
			if err := a.reapVM(ctx, o.ID); err != nil {
				errs = append(errs, vmStays(err, o.ID, o.Run))
			}
		}
		left = append(left, l)
	}
	return left, errors.Join(errs...)
}

func vmStays(err error, id, run string) error {
	e := fault.Wrap(fault.Platform, err, "the VM %s of run %s could not be destroyed", id, run)
	e.Code = codeVMAlive
	return e
}
