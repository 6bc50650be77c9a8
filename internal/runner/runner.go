// Package runner executes a plan: the dispatch loop on the host, which starts what is ready, waits for what is running
// and ends the VM, whatever happened.
//
// The one rule: one goroutine owns the state of the run; steps only send it how they ended. A dry run is the same
// code with other adapters, so nothing here asks whether it is one.
package runner

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/record"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// maxParallel bounds the steps that run at once; ready ones beyond it wait in the plan's order.
const maxParallel = 16

// Config is everything a run is made of. Nothing is looked up elsewhere.
type Config struct {
	Plan     *plan.Plan
	RunID    string
	Input    json.RawMessage      // checked against the plan's schema
	Files    map[string]FileInput // file inputs by the name of their input
	Started  ledger.Data          // what run.started says beyond the plan and the input: trigger, actor, programs
	Provider sandbox.Provider
	Image    string          // the provider's pin
	Ledger   *ledger.Writer  // stays open
	Broker   *broker.Broker  // closed when Run returns
	Secrets  *secret.Set     // the one that the broker adds its tokens to
	Objects  *artifact.Store // nil: nothing is kept
	LogDir   string          // where captured output goes; "": nowhere
	Key      []byte          // of this run alone: for HMACs of bytes before they are scrubbed; nil: they are not on record
	// Bundle opens one pinned file of a skill, or, with skill "", the setup script: exactly the bytes that were frozen.
	Bundle func(skill string, file plan.File) (io.ReadCloser, error)
	Model  Prompting // works model steps
	// Prompt works a model step in place of the model; Call works an action step, nil: the broker makes its call.
	Prompt, Call Worker
	// OwnVM is told the id of a VM before anything is waited for; its error ends the VM again. VMGone is told that the
	// VM is no more; its error changes nothing, since whoever looks for the VM will not find it. Both may be nil.
	OwnVM, VMGone func(id string) error
	// Admit waits until this machine has room for the plan's VM and returns how to give that room back. It calls waiting,
	// once, when there is none yet, with the reason. Nil: there is no queue.
	Admit func(ctx context.Context, waiting func(reason string)) (leave func(), err error)
	// SkipCollect, when cancelled, ends the collection of artifacts and all other tidying within the VM: the second
	// interrupt.
	SkipCollect context.Context //nolint:containedctx // a second, later signal than the one of Run's ctx
	Now         func() time.Time
}

// Worker does the work of a step outside the VM and returns its output.
type Worker func(ctx context.Context, step plan.Step, input any) (output any, err error)

// FileInput is a file given to a run. Its bytes are those that were digested.
type FileInput struct {
	Name   string // what it is called in /workspace/in
	Size   int64
	SHA256 string // hex
	Open   func() (io.ReadCloser, error)
}

// Outcome is how a run ended.
type Outcome struct {
	Status   string // succeeded | failed | interrupted
	Failure  *Failure
	Steps    []StepOutcome // in the plan's order, setup first when there is one
	VM       string        // id of a VM that may still be alive, else ""
	Duration time.Duration
	// RecordErr is why the ledger is not whole; the run was stopped, and Status is not succeeded.
	RecordErr error
}

// Failure is the first failure of the run in the ledger's order.
type Failure struct {
	Step    string     // "" when it is the run's own
	Kind    fault.Kind // agent | input | connection | policy | platform
	Timeout bool       // a time limit ended it
	Drift   bool       // the image or a tool differs from its pin
	Consent bool       // a credential, or a person's approval, is missing or was refused
	Err     error      // without a known secret in its words
}

// StepOutcome is how one step ended.
type StepOutcome struct {
	ID        string
	Status    string // succeeded | failed | skipped
	Why       string // of skipped
	Failure   *Failure
	Output    any // what references to the step's output resolve to
	Artifacts []Artifact
	LeftOut   int64  // entries of /workspace/out that were not kept; the ledger says why
	Partial   string // why the collection of /workspace/out did not reach its end, else ""
	ExitCode  int    // of the script; -1 when none is known
	Duration  time.Duration
	Tail      []byte // last lines of its output, scrubbed
	Log       string // path of its captured output, without .stdout or .stderr
}

// Artifact is a file that a step left and the store keeps.
type Artifact struct {
	Name   string
	Size   int64
	SHA256 string // hex
}

// Step statuses, and statuses of a run.
const (
	Succeeded   = "succeeded"
	Failed      = "failed"
	Skipped     = "skipped"
	Interrupted = "interrupted"
)

// Run executes the plan. Cancelling ctx interrupts it: running commands are killed, what they left is collected, the
// VM is destroyed and the ledger is finished. What goes wrong in a step is in the Outcome; so is a broken record.
func Run(ctx context.Context, cfg Config) Outcome {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.SkipCollect == nil {
		cfg.SkipCollect = context.Background()
	}
	r := &run{Config: cfg, scribe: record.Scribe{Secrets: cfg.Secrets, Objects: cfg.Objects}, begun: cfg.Now(), steps: withSetup(cfg.Plan), results: map[string]*result{}, ended: make(chan *result)}
	r.vm = &machine{run: r}
	return r.execute(ctx)
}
