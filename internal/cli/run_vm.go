package cli

import (
	"context"
	"errors"

	"github.com/joystream-ai/joy/internal/queue"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
	"github.com/joystream-ai/joy/internal/term"
)

// local is the provider of a run's VM on this machine. It tells a person when what it gives is less than a boundary,
// and sees to it that the next run starts faster than this one.
type local struct {
	*microvm.Provider
	app    *app
	booted *sandbox.Spec // what had to be booted, though a snapshot was allowed
}

// Create warns once the VM is there: a plan that refuses emulation has none.
func (l *local) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	sb, err := l.Provider.Create(ctx, spec)
	if err != nil {
		return sb, err
	}
	info := sb.Info()
	if info.Reduced != "" && !l.app.quiet {
		l.app.warn("QEMU is less confined than it could be (%s); policy.isolation: hardware refuses it", term.Line(info.Reduced))
	}
	if info.Isolation == "emulated" && !l.app.quiet {
		l.app.warn("the VM is emulated (TCG): slow, and no security boundary in QEMU's own terms; policy.isolation: hardware refuses it")
	}
	if info.Start == "cold" && spec.Start != "cold" {
		spec.Started, spec.Door = nil, nil
		l.booted = &spec
	}
	return sb, nil
}

// keepSnapshot makes, at the end of the first run with a kind of VM, the snapshot that the next ones start from. By
// then the run's own VM is gone and all that the run has to say is said; ctx, which the first Ctrl-C ends, ends this
// too. Where it would have to wait for room it is left to a later run. The run's outcome does not depend on it; an error
// is a VM that may still be alive, which is the run's as any other: it is in the index as long as it may be.
func (l *local) keepSnapshot(ctx context.Context, rec *record, need queue.Need) error {
	if l.booted == nil || ctx.Err() != nil {
		return nil
	}
	vm := ""
	l.booted.Started = func(id string) error {
		vm = id
		l.app.say("keeping a fresh VM's memory, so that the next run starts at once: this takes a few seconds, and Ctrl-C skips it")
		return rec.ownVM(id)
	}
	entering, giveUp := context.WithCancel(ctx)
	defer giveUp()
	leave, err := l.app.queue().Enter(entering, rec.run.ID, need, func(string) { giveUp() })
	if err != nil {
		return nil //nolint:nilerr // a later run makes it
	}
	defer leave()
	_, err = l.MakeSnapshot(ctx, *l.booted)
	if errors.Is(err, sandbox.ErrAlive) {
		return mayBeAlive(vm)
	}
	_ = rec.vmGone(vm)
	if err != nil && ctx.Err() == nil {
		l.app.detail("the next run will boot again: %v", err)
	}
	return nil
}
