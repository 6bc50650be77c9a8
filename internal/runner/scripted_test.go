package runner

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
)

// scripted is a provider whose VM does what the test says: it produces the faults that a real VM cannot be asked for.
// What it does not say succeeds with the result {}.
type scripted struct {
	create  func(ctx context.Context, spec sandbox.Spec) error // before there is a VM
	destroy func(n int32) error
	scripts map[string]func(*scene) (sandbox.Result, error)             // by step
	collect func(ctx context.Context, s *scene) ([]sandbox.Skip, error) // after the files

	creates, destroys atomic.Int32
	lose              context.CancelFunc // the VM is gone
	mu                sync.Mutex
	scenes            map[string]*scene
}

// scene is one step's world, as its script finds it.
type scene struct {
	ctx            context.Context //nolint:containedctx // of Run
	spec           sandbox.WorldSpec
	files          map[string]string // below /workspace
	argv           []string
	stdout, stderr io.Writer
	out            []outFile
	closed         bool
	vm             *scriptedVM
}

// outFile is something in /workspace/out. err, when set, is where reading it ends.
type outFile struct {
	name, body string
	err        error
}

func (s *scene) print(text string) { _, _ = io.WriteString(s.stdout, text) }
func (s *scene) keep(name, body string) {
	s.out = append(s.out, outFile{name: name, body: body})
}
func (s *scene) token() string { return s.spec.Env["JOY_RUN_TOKEN"] }

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

func (s *scene) Put(_ context.Context, dir string, files []sandbox.File) error {
	for _, f := range files {
		r, err := f.Open()
		if err != nil {
			return err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		s.files[dir+"/"+f.Path] = string(b)
		_ = r.Close()
	}
	return s.vm.Err()
}

func (s *scene) Run(ctx context.Context, cmd sandbox.Command, stdout, stderr io.Writer) (sandbox.Result, error) {
	s.ctx, s.argv, s.stdout, s.stderr = ctx, cmd.Argv, stdout, stderr
	script := s.vm.provider.scripts[s.spec.ID]
	if script == nil {
		s.print("{}")
		return sandbox.Result{}, nil
	}
	return script(s)
}

func (s *scene) Collect(ctx context.Context, _ policy.Artifacts, put func(sandbox.Found, io.Reader) error) (got sandbox.Collected, err error) {
	if s.vm.Err() != nil {
		return got, s.vm.Err()
	}
	slices.SortFunc(s.out, func(a, b outFile) int { return strings.Compare(a.name, b.name) })
	for _, f := range s.out {
		body := io.Reader(strings.NewReader(f.body))
		if f.err != nil {
			body = io.MultiReader(body, failing{f.err})
		}
		if err := put(sandbox.Found{Path: f.name, Size: int64(len(f.body))}, body); err != nil && f.err == nil {
			return got, err
		} else if err != nil {
			got.Skipped = append(got.Skipped, sandbox.Skip{Path: f.name, Reason: "unreadable"})
		}
	}
	if s.vm.provider.collect != nil {
		got.Skipped, err = s.vm.provider.collect(ctx, s)
	}
	return got, err
}

func (s *scene) Close(context.Context) error {
	s.closed = true
	return nil
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
