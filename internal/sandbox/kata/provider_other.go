//go:build !linux

package kata

import (
	"context"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Provider exists on Linux only; here it says so.
type Provider struct {
	Address, Runtime, Snapshotter, Dir, Scratch, Owner string
	Guest                                              []byte
	GVisor                                             bool
}

// Name is kata.
func (p *Provider) Name() string { return Name }

var errElsewhere = fault.New(fault.Platform, "Kata Containers need Linux").WithHint("joy run --sandbox e2b")

// Create says where a VM can be had instead.
func (p *Provider) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, errElsewhere
}

// Alive is false: no VM was ever started here.
func (p *Provider) Alive(context.Context, string) (bool, error) { return false, nil }

// Reap finds nothing.
func (p *Provider) Reap(context.Context, string) error { return nil }

// Orphan is a VM whose run is not living; here there are none.
type Orphan struct{ ID, Run string }

// Orphans are none.
func (p *Provider) Orphans(context.Context, func(string) bool) ([]Orphan, error) { return nil, nil }

// About says that there is no containerd here.
func (p *Provider) About(context.Context) (About, error) { return About{}, errElsewhere }
