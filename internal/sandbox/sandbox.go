// Package sandbox is the contract of the throw-away VM of a run: what creates it, and what a step may do in it.
//
// The one rule: a sandbox belongs to one run. It is created when the first step needs it, shared by the later steps
// through worlds that cannot see one another, and destroyed when the run ends, whatever happened.
package sandbox

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"github.com/joystream-ai/joy/internal/policy"
)

// ErrLost is in the tree of every error that means the VM is gone: whatever ran in it has an unknown outcome.
var ErrLost = errors.New("the VM is gone")

// ErrAlive is in the tree of an error after which a VM may still be alive.
var ErrAlive = errors.New("a VM may still be alive")

// Provider creates sandboxes. It is safe for concurrent use.
type Provider interface {
	// Name is what the plan and the ledger call it: microvm, kata, e2b, sim.
	Name() string
	// Create boots a VM and waits until it answers. Whatever it started is destroyed again when it returns an error,
	// unless that is ErrAlive.
	// Cancelling ctx ends the boot, not a sandbox already returned.
	Create(ctx context.Context, spec Spec) (Sandbox, error)
}

// Spec is the VM a run asks for.
type Spec struct {
	Run       string // run id, for tags
	Image     string // the provider's pin from the plan, sha256:…
	Isolation string // any | hardware
	Start     string // any | cold
	CPUs      int
	Memory    policy.Size
	Disk      policy.Size
	// Started is called as soon as something exists that must be destroyed, before Create returns; id names it for
	// whoever cleans up after a crash. An error from it aborts the creation. May be nil.
	Started func(id string) error
	// Door takes over one connection made to the broker's door in a world. It is called on its own goroutine and
	// closes conn. world is the id given to Open; it comes from the host's own table, never from what the VM says.
	Door func(world string, conn net.Conn)
	// Console receives what the VM prints while it boots, for diagnosis; bounded by the provider. May be nil.
	Console io.Writer
}

// Sandbox is one running VM. It is safe for concurrent use.
type Sandbox interface {
	Info() Info
	// Open makes a step's world: namespaces, a cgroup, a private file system, a door of its own.
	Open(ctx context.Context, spec WorldSpec) (World, error)
	// Lost is closed when the VM is gone without Destroy having been called. Err then says why.
	Lost() <-chan struct{}
	Err() error
	// Destroy ends the VM and verifies that nothing of it remains. It may be called more than once and by a caller
	// whose own context is already cancelled: pass a fresh one. An error is ErrAlive.
	Destroy(ctx context.Context) error
}

// Info is what the ledger says about a sandbox.
type Info struct {
	ID          string // names it to joy gc
	Provider    string
	Image       string
	Isolation   string // hardware | emulated | simulated
	Accelerator string // kvm | tcg | ""
	Confinement string // what was found to hold the VM's own process, in the words of docs/sandbox.md
	Reduced     string // what of it could not be had, and why; "" when nothing is missing
	Start       string // cold | snapshot
	StartReason string // why it was cold, when a snapshot was possible
}

// WorldSpec is what a step's world is made of.
type WorldSpec struct {
	ID       string            // step id
	Layers   []string          // lower layers over the image, nearest last; empty: the image alone
	Env      map[string]string // environment of every command, complete: nothing is added but what the world itself needs
	ReadOnly []string          // directories below /workspace that its processes cannot write, e.g. skills/count
	// Keep names the layer that the world's writes over the image become when it is closed without an error, for later
	// worlds to name in Layers; nothing of /workspace is in it. Empty: they are removed. A name is given once.
	Keep string
	// Alone says that no other world will be open beside it: it may use all of the VM's memory and disk. Without it, a
	// world that uses up all it can leaves a quarter of each to the others.
	Alone bool
}

// World is one step's view of the VM. Put, Run and Collect may be called until Close; Close also ends calls in progress.
type World interface {
	// Put writes files below dir, a slash path relative to /workspace. It is for the host's own files: the paths are
	// trusted, the bytes are not.
	Put(ctx context.Context, dir string, files []File) error
	// Run executes one command and streams its output, raw, while it runs. Output that nobody reads holds the command
	// back; it is never buffered without bound. An error means that no exit status is known: ErrLost, ctx's own
	// error after the command was killed with everything it started, or a start that failed (no such file).
	// What a command does wrong, a non-zero status or death by a signal, is a Result.
	Run(ctx context.Context, cmd Command, stdout, stderr io.Writer) (Result, error)
	// Collect ends whatever still runs, walks /workspace/out, following no link, and hands each regular file to put in
	// order of path. put must read r to its end or return an error, which ends the walk. What is not handed over is
	// reported.
	Collect(ctx context.Context, caps policy.Artifacts, put func(f Found, r io.Reader) error) (Collected, error)
	// Close kills every process of the world and removes its files. Idempotent.
	Close(ctx context.Context) error
}

// File is one file for Put. Open is called once, when its bytes are due.
type File struct {
	Path string // slash path below the directory
	Mode uint32 // permission bits
	Size int64
	Open func() (io.ReadCloser, error)
}

// Command is what Run executes, in /workspace.
type Command struct {
	Argv  []string          // Argv[0] is looked up on PATH
	Env   map[string]string // over the world's environment
	Stdin io.Reader         // nil: empty
}

// Result is how a command ended.
type Result struct {
	ExitCode int           // 128+n when a signal ended it
	Signal   string        // its name, else ""
	Duration time.Duration // measured by the VM
	Reason   string        // "", or what the VM itself did to it: oom, pids, disk
	Symbolic bool          // nothing was executed: the outcome is a name, not a value
}

// Found is one regular file of /workspace/out.
type Found struct {
	Path    string // slash path below out; any bytes but NUL, as the guest saw them
	Size    int64
	ModTime time.Time
}

// Collected is what Collect left behind.
type Collected struct {
	Skipped []Skip
}

// Skip is something in /workspace/out that was not taken, and why: link, device, fifo, socket, too-large, total, count,
// depth, unreadable. Without a Path it is out itself (link, not-a-directory, …), or, with a Count, says how many more of
// that reason are not named.
type Skip struct {
	Path   string
	Reason string
	Size   int64 // bytes
	Count  int64
}
