// Package build freezes an agent: joy.yaml and its bundles become a plan.
//
// The one rule: a plan is a function of the bytes in the project, the version of the rules and the outside pins that
// are kept. Nothing is started or contacted here; a pin that is missing is asked for through Options, and where or when or
// in which order a plan is built leaves no trace.
package build

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
)

// Code is the code of the errors of this package that have no rule of their own.
const Code = "JOY-BUILD"

// Files joy knows by name, in the project's directory.
const (
	SpecName = "joy.yaml"
	LockName = "joy.lock"
)

// Options say what to freeze and how.
type Options struct {
	// Dir is the directory of the agent or of a single bundle. FS, when set, is read in its place and Dir only names
	// it. A link that leads out of Dir is not followed.
	Dir string
	FS  fs.FS

	// Old is the plan whose outside pins are kept; nil keeps none.
	Old *plan.Plan

	// Images knows the images of this machine, for pins that nothing is kept for: profile and architecture (amd64,
	// arm64) to a digest, or "". nil knows none, and such a pin stays null.
	Images func(profile, arch string) string

	// Containers looks up the container image that is made of an image, for Kata's pins that nothing is kept for. Both are
	// digests, or "". nil knows none.
	Containers func(image string) string

	// Templates looks up what an E2B template means now, for a pin that nothing is kept for: the id of its build, or "".
	// nil looks up none.
	Templates func(template string) (build string, err error)

	// Ask gets definitions of tools that nothing is kept for. nil: nobody is asked, and a plan that lacks one has no
	// lock.
	Ask Ask

	// Strict reads bundles as the reference validator does and makes an error of every warning.
	Strict bool

	// Jobs is how many bundles are read side by side; 0 is one per processor, at most 8.
	Jobs int

	// Read says where file modes come from; see digest.Options. Held and Raw are not the caller's to set.
	Read digest.Options
}

// Result is a frozen agent and what a person should hear about it.
type Result struct {
	Plan     *plan.Plan
	Lock     []byte         // the plan as joy.lock; nil when Unpinned is not empty
	Unpinned []string       // granted actions that have no pin, when nobody could be asked
	Findings []plan.Finding // of all bundles, in the plan's order, without what allow accepts
	Notes    []string       // what is worth saying and changes nothing
}

// Build freezes the agent in o.Dir. The error joins *fault.Error values, each with its place: of joy.yaml alone when
// that does not parse, else of everything that was found. No plan is returned with an error.
func Build(ctx context.Context, o Options) (*Result, error) {
	fsys := o.FS
	if fsys == nil {
		root, err := ordinary.OpenRoot(o.Dir)
		if err != nil {
			return nil, fault.Wrap(fault.Input, err, "open the project")
		}
		defer root.Close()
		fsys = root.FS()
	}
	b := &builder{o: o, fsys: fsys, spec: &agent.Spec{File: SpecName}, used: map[int]bool{}}
	b.plan = &plan.Plan{LockVersion: plan.LockVersion, Rules: skill.RulesVersion}
	if err := b.readSpec(ctx); err != nil {
		return nil, err
	}
	b.steps()
	b.edges()
	b.setup()
	b.schemas()
	b.connections()
	b.fixtures()
	b.collisions()
	b.tools(ctx)
	b.flow()
	b.grants()
	b.marks()
	b.secrets()
	b.findings()
	if err := b.image(); err != nil {
		return nil, err
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	b.asks()
	if len(b.unpinned) > 0 {
		return &Result{Plan: b.plan, Unpinned: b.unpinned, Findings: b.open, Notes: b.notes}, nil
	}
	return b.freeze()
}

func (b *builder) freeze() (*Result, error) {
	lock, err := plan.Encode(b.plan)
	if err != nil {
		return nil, err
	}
	if len(lock) > plan.MaxBytes {
		return nil, fault.New(fault.Input, "the lock would have %d bytes, and joy reads at most %d", len(lock), plan.MaxBytes).At(b.spec.File, 0, 0).
			WithHint("grant fewer tools, or pin fewer files")
	}
	// What joy writes it must be able to read: the same rules hold for both, and this is where they meet.
	frozen, err := plan.Decode(lock, LockName)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "read back the plan")
	}
	return &Result{Plan: frozen, Lock: lock, Findings: b.open, Notes: b.notes}, nil
}

// builder holds one build; each of its methods adds to the plan or to the errors.
type builder struct {
	o        Options
	fsys     fs.FS
	spec     *agent.Spec
	text     []byte   // joy.yaml
	bundles  []bundle // in the plan's order
	plan     *plan.Plan
	used     map[int]bool // entries of allow that accept something
	open     []plan.Finding
	unpinned []string
	notes    []string
	errs     []error

	gitOnce sync.Once
	git     gitModes
}

func (b *builder) fail(at agent.Pos, format string, args ...any) *fault.Error {
	e := fault.New(fault.Input, format, args...).At(b.spec.File, at.Line, at.Col)
	e.Code = Code
	b.errs = append(b.errs, e)
	return e
}
