//go:build !linux

package microvm

import (
	"context"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// Provider exists on Linux only; here it says so.
type Provider struct {
	CacheDir, Scratch, QEMU, Accel string
	Guest                          []byte
}

// Name is microvm.
func (p *Provider) Name() string { return Name }

// Create says where a VM can be had instead.
func (p *Provider) Create(context.Context, sandbox.Spec) (sandbox.Sandbox, error) {
	return nil, fault.New(fault.Platform, "local VMs need Linux").WithHint("joy run --sandbox e2b")
}

// Reap finds nothing: no VM was ever started here.
func Reap(string) (bool, error) { return false, nil }

// Alive is false: no VM was ever started here.
func Alive(string) bool { return false }

// MakeSnapshot makes none.
func (p *Provider) MakeSnapshot(context.Context, sandbox.Spec) (bool, error) { return false, nil }

// Snapshot is the memory of a booted guest; here there are none.
type Snapshot struct {
	Path  string
	Image string
	Size  int64
	Used  time.Time
}

// Snapshots lists none.
func Snapshots(string) ([]Snapshot, error) { return nil, nil }

// TrimSnapshots removes none.
func TrimSnapshots(string, time.Time, []string, bool) ([]Snapshot, error) { return nil, nil }

// Remove has nothing to remove.
func (s Snapshot) Remove() error { return nil }
