package cli

import (
	"context"
	"errors"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
	"github.com/joystream-ai/joy/internal/sandbox/kata"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
	"github.com/joystream-ai/joy/internal/state"
)

// vmAlive says whether a VM of the index may still be there. An error is that nobody can tell: then it may.
func (a *app) vmAlive(ctx context.Context, id string) (bool, error) {
	switch {
	case kata.IsID(id):
		p, err := a.kata()
		if err != nil {
			return true, err
		}
		alive, err := p.Alive(ctx, id)
		return alive || err != nil, err
	case !e2b.IsID(id):
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
	switch {
	case kata.IsID(id):
		p, err := a.kata()
		if err != nil {
			return err
		}
		return p.Reap(ctx, id)
	case !e2b.IsID(id):
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

// orphan is a VM that an account or a containerd says is this user's, and whose run does not live.
type orphan struct{ id, run string }

// orphans looks where VMs are labelled with their run. Without a key there is no account to look at.
func (a *app) orphans(ctx context.Context) ([]orphan, error) {
	var out []orphan
	inContainerd, err := a.orphansOfKata(ctx)
	for _, o := range inContainerd {
		out = append(out, orphan{o.ID, o.Run})
	}
	if _, ok := a.env.LookupEnv(client.EnvKey); !ok {
		return out, err
	}
	p, keyErr := a.e2b()
	if keyErr != nil {
		return out, errors.Join(err, keyErr)
	}
	atE2B, e2bErr := p.Orphans(ctx, a.lives())
	for _, o := range atE2B {
		out = append(out, orphan{o.ID, o.Run})
	}
	return out, errors.Join(err, e2bErr)
}

// reapTagged destroys VMs that have this user's labels and whose run nobody knows any more, such as those of an index that
// was lost.
func (a *app) reapTagged(ctx context.Context, dryRun bool) ([]leftover, error) {
	orphans, err := a.orphans(ctx)
	errs := []error{err}
	var left []leftover
	for _, o := range orphans {
		l := leftover{Run: o.run, VMs: []string{o.id}, Alive: []string{o.id}}
		if !dryRun {
			// A run may have begun since: the index is read again before each.
			if a.lives()(o.run) {
				continue
			}
			if err := a.reapVM(ctx, o.id); err != nil {
				errs = append(errs, vmStays(err, o.id, o.run))
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
