// Package sim is the provider of a dry run: a sandbox in which nothing is executed.
//
// The one rule: it has no effect at all, on this machine or elsewhere. It remembers what each step would have been
// given, and every outcome is a name and not a value.
package sim

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Name is what plans and ledgers call this provider.
const Name = "sim"

// Provider remembers what the steps of one dry run were given. The zero value is ready to use.
type Provider struct {
	mu     sync.Mutex
	booted string // the step that asked first
	given  map[string]*Given
}

// Given is what one step would find in its world.
type Given struct {
	Env   map[string]string
	Input json.RawMessage // the resolved input
	Files []string        // paths below /workspace, in the order they were put
	Argv  []string
}

// Name is sim.
func (p *Provider) Name() string { return Name }

// Create boots nothing.
func (p *Provider) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &vm{provider: p, image: spec.Image, lost: make(chan struct{})}, nil
}

// Given is what the step would find, and whether it has a world at all.
func (p *Provider) Given(step string) (Given, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.given[step]
	if !ok {
		return Given{}, false
	}
	return *g, true
}

// Booted is the step that would have booted the VM, or "".
func (p *Provider) Booted() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.booted
}

type vm struct {
	provider *Provider
	image    string
	lost     chan struct{}
}

func (v *vm) Info() sandbox.Info {
	return sandbox.Info{ID: Name, Provider: Name, Image: v.image, Isolation: "simulated", Confinement: "nothing is executed", Start: "cold"}
}

func (v *vm) Open(ctx context.Context, spec sandbox.WorldSpec) (sandbox.World, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p := v.provider
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.given == nil {
		p.given, p.booted = map[string]*Given{}, spec.ID
	}
	if p.given[spec.ID] != nil {
		return nil, errors.New("the world of " + spec.ID + " exists")
	}
	g := &Given{Env: spec.Env}
	p.given[spec.ID] = g
	return &world{provider: p, given: g}, nil
}

func (v *vm) Lost() <-chan struct{}         { return v.lost }
func (v *vm) Err() error                    { return nil }
func (v *vm) Destroy(context.Context) error { return nil }

type world struct {
	provider *Provider
	given    *Given
}

// inputFile is where the runner puts a step's input.
const inputFile = "in/input.json"

// Put remembers the names and reads only the input: the other files may not exist in a dry run.
func (w *world) Put(_ context.Context, dir string, files []sandbox.File) error {
	w.provider.mu.Lock()
	defer w.provider.mu.Unlock()
	for _, f := range files {
		path := dir + "/" + f.Path
		w.given.Files = append(w.given.Files, path)
		if path != inputFile {
			continue
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		w.given.Input, err = io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Run executes nothing: the result is symbolic.
func (w *world) Run(ctx context.Context, cmd sandbox.Command, _, _ io.Writer) (sandbox.Result, error) {
	w.provider.mu.Lock()
	defer w.provider.mu.Unlock()
	w.given.Argv = cmd.Argv
	return sandbox.Result{Symbolic: true}, ctx.Err()
}

// Collect finds nothing.
func (w *world) Collect(context.Context, policy.Artifacts, func(sandbox.Found, io.Reader) error) (sandbox.Collected, error) {
	return sandbox.Collected{}, nil
}

func (w *world) Close(context.Context) error { return nil }
