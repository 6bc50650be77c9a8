package runner

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/joystream-ai/joy/internal/sandbox"
)

// scripted is a provider whose VM does what the test says: it produces the faults that a real VM cannot be asked for.
// What it does not say succeeds with the result {}.
type scripted struct {
	create  func(ctx context.Context, spec sandbox.Spec) error // before there is a VM
	destroy func(n int32) error
	close   func(world string) error
	scripts map[string]func(*scene) (sandbox.Result, error)             // by step
	collect func(ctx context.Context, s *scene) ([]sandbox.Skip, error) // after the files

	creates, destroys atomic.Int32
	lose              context.CancelFunc // the VM is gone
	mu                sync.Mutex
	scenes            map[string]*scene
}

func (p *scripted) Name() string { return "microvm" }

func (p *scripted) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	p.creates.Add(1)
	if p.create != nil {
		if err := p.create(ctx, spec); err != nil {
			return nil, err
		}
	}
	if spec.Started != nil {
		if err := spec.Started("vm-1"); err != nil {
			return nil, err
		}
	}
	gone, lose := context.WithCancel(context.Background())
	p.lose = lose
	return &scriptedVM{provider: p, gone: gone, spec: spec}, nil
}

func (p *scripted) scene(step string) *scene {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.scenes[step]
}

type scriptedVM struct {
	provider *scripted
	spec     sandbox.Spec
	gone     context.Context //nolint:containedctx // cancelled when the VM is lost
}

func (v *scriptedVM) Info() sandbox.Info {
	return sandbox.Info{ID: "vm-1", Provider: "microvm", Image: v.spec.Image, Isolation: "emulated", Confinement: "none", Start: "cold"}
}

func (v *scriptedVM) Open(_ context.Context, spec sandbox.WorldSpec) (sandbox.World, error) {
	s := &scene{spec: spec, files: map[string]string{}, vm: v}
	v.provider.mu.Lock()
	defer v.provider.mu.Unlock()
	if v.provider.scenes == nil {
		v.provider.scenes = map[string]*scene{}
	}
	v.provider.scenes[spec.ID] = s
	return s, v.Err()
}

func (v *scriptedVM) Lost() <-chan struct{} { return v.gone.Done() }

func (v *scriptedVM) Err() error {
	if v.gone.Err() != nil {
		return sandbox.ErrLost
	}
	return nil
}

func (v *scriptedVM) Destroy(ctx context.Context) error {
	n := v.provider.destroys.Add(1)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if v.provider.destroy != nil {
		return v.provider.destroy(n)
	}
	return nil
}

// tee tells when an entry is in the ledger.
type tee struct {
	mu    sync.Mutex
	waits map[string]chan struct{}
}

// when is closed once there is an entry of the type and step.
func (w *tee) when(typ, step string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	done := make(chan struct{})
	if w.waits == nil {
		w.waits = map[string]chan struct{}{}
	}
	w.waits[`"type":"`+typ+`","step":"`+step+`"`] = done
	return done
}

func (w *tee) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for what, done := range w.waits {
		if bytes.Contains(line, []byte(what)) {
			close(done)
			delete(w.waits, what)
		}
	}
	return len(line), nil
}
