package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
	"github.com/joystream-ai/joy/internal/sandbox/kata"
	"github.com/joystream-ai/joy/internal/sandbox/microvm"
	"github.com/joystream-ai/joy/internal/secret"
)

// runOptions are the flags of joy run.
type runOptions struct {
	inputs    []string
	inputFile string
	jsonl     bool
	witness   string
	approve   []string // actions
	exercise  bool     // of simulate
	record    string   // a run or a record file, for exercise
}

func newRunCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run [DIR|LOCK|RUN]",
		Short: "Execute a frozen plan in a throw-away VM",
		Long: "run executes joy.lock and nothing else: it refuses when a byte on disk differs from its pin. The VM is booted\n" +
			"by the first step that needs it and destroyed when the run ends. The ledger goes to stdout as JSON lines, and\n" +
			"is rendered for people when stdout is a terminal.",
		Args: argsBetween(0, 1, "one project, lock or run"),
		Example: "  joy run --input week=2026-W48\n" +
			"  joy run examples/repo-report --input repo=@src.tar\n" +
			"  joy run --approve drive.upload --jsonl > ledger.jsonl",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), firstArg(args), o)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.inputs, "input", nil, "`NAME=VALUE` of the run's input; NAME=@FILE for a file")
	flags.StringVar(&o.inputFile, "input-file", "", "read the input from `FILE`, a JSON object (- for stdin)")
	flags.String("sandbox", "", "where VMs come from: microvm (default), kata or e2b")
	flags.String("model", "", "ask `PROVIDER/NAME` in place of the plan's model")
	flags.StringArrayVar(&o.approve, "approve", nil, "approve of calls of `ACTION` without asking (may be repeated)")
	flags.BoolVar(&o.jsonl, "jsonl", false, "print the ledger as JSON lines on a terminal too")
	flags.StringVar(&o.witness, "witness", "", "tell `CMD|URL` the run's head when it starts and ends; a CMD gets JSON on stdin")
	return cmd
}

func firstArg(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// run loads, checks, executes, reports. No run exists before the plan, its input and every byte are known good.
func (a *app) run(ctx context.Context, arg string, o runOptions) error {
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	asked, err := modelOf(t.plan, a.cfg.Model)
	if err != nil {
		return err
	}
	provider, err := a.provider(t.plan)
	if err != nil {
		return err
	}
	if err := a.refuseTooLarge(t); err != nil {
		return err
	}
	bounds, err := a.judge(t.asking(asked), a.lockFile(arg), provider.Name())
	if err != nil {
		return err
	}
	if err := a.refuseUnapproved(t.plan, o.approve); err != nil {
		return err
	}
	a.reapQuietly(ctx)
	rec, err := a.openRecord(t)
	if err != nil {
		return err
	}
	defer rec.close()
	// The bytes that run are the bytes checked here, in one read, into the store.
	if err := t.checkDrift(rec.keepBundleFile); err != nil {
		return err
	}
	pin, err := a.pinnedImage(t.plan)
	if err != nil {
		return err
	}
	release, err := a.holdImage(pin)
	if err != nil {
		return err
	}
	defer release()
	seal, err := a.openSealer(t, o.witness)
	if err != nil {
		return err
	}
	secrets := secret.NewScrubber()
	out, err := a.openOutside(ctx, t, o.approve, secrets)
	if err != nil {
		return err
	}
	prompting, err := a.openModel(ctx, asked, a.resolver(secrets))
	if err != nil {
		return err
	}
	judge := &entering{ctx: ctx, plan: t.plan, known: secrets, warn: a.warn}
	if err := judge.refuseKnown(rec.openPinned); err != nil {
		return err
	}
	in, err := a.readInputs(t.plan, o.inputs, o.inputFile, secrets, taking{judge, rec.keepFile})
	if err != nil {
		return err
	}
	if err := rec.begin(t, a.ledgerTo(o, t.plan)); err != nil {
		return err
	}
	if err := seal.begin(ctx, rec); err != nil {
		return err
	}
	done := rec.execute(ctx, a, execution{
		target: t, provider: provider, image: pin, in: in, secrets: secrets, outside: out, model: prompting, bounds: bounds,
	})
	unsealed := seal.end(ctx, rec, done.RecordErr)
	// Closed first, the ledger is printed to its end before anything is said about it.
	if err := rec.ledger.Close(); done.RecordErr == nil {
		done.RecordErr = err
	}
	err = a.reportRun(ctx, rec, done)
	if l, ok := provider.(*local); ok && done.VM == "" {
		if alive := l.keepSnapshot(ctx, rec, needOf(t.plan)); err == nil {
			err = alive
		}
	}
	return seal.outcome(err, unsealed)
}

// ledgerTo is where the ledger is printed while the run goes on.
func (a *app) ledgerTo(o runOptions, p *plan.Plan) io.Writer {
	if a.out.tty && !o.jsonl && !a.json {
		return a.liveView(p)
	}
	return jsonLines{a.out}
}

// provider is where the plan's VM comes from.
func (a *app) provider(p *plan.Plan) (sandbox.Provider, error) {
	name := a.cfg.Sandbox
	if !slices.Contains(p.Policy.Providers, name) {
		return nil, fault.New(fault.Policy, "the plan does not allow the sandbox provider %s (policy.providers: %s)", name, strings.Join(p.Policy.Providers, ", "))
	}
	switch name {
	case microvm.Name:
	case e2b.Name:
		p, err := a.e2b()
		if err != nil {
			return nil, err
		}
		return &remote{p, a}, nil
	case kata.Name:
		p, err := a.kata()
		if err != nil {
			return nil, err
		}
		return &contained{p, a}, nil
	default:
		return nil, fault.New(fault.Platform, "this version of joy has no sandbox provider %s", name).WithHint("joy run --sandbox microvm")
	}
	return &local{&microvm.Provider{CacheDir: a.cfg.Dirs.Cache, Accel: a.cfg.Accel}, a, nil}, nil
}

// pinnedImage is the plan's image for this machine, which must be here. A plan without a step in the VM needs none.
func (a *app) pinnedImage(p *plan.Plan) (string, error) {
	needed := false
	for _, s := range p.Steps {
		needed = needed || s.NeedsVM()
	}
	pin := map[string]*string{"amd64": p.Image.Microvm.AMD64, "arm64": p.Image.Microvm.ARM64}[runtime.GOARCH]
	switch {
	case !needed:
		return "", nil
	case a.cfg.Sandbox == e2b.Name:
		return pinnedTemplate(p)
	case a.cfg.Sandbox == kata.Name:
		return pinnedContainer(p)
	case pin == nil:
		profile := p.Image.Profile
		e := fault.New(fault.Drift, "the lock does not pin the image %s for %s yet", profile, runtime.GOARCH).
			WithHint("joy image build --profile %s && joy build --update image", profile)
		e.Code = "JOY-NO-IMAGE-PIN"
		return "", e
	}
	return *pin, a.imageIsHere(*pin, p.Image.Profile)
}

func (a *app) imageIsHere(pin, profile string) error {
	img, err := image.Find(a.cfg.Dirs.Cache, pin)
	if err == nil {
		return image.Verify(img) // bytes against digests, each time: a size says nothing of what would boot
	}
	if !errors.Is(err, image.ErrNotFound) {
		return err
	}
	e := fault.Wrap(fault.Platform, image.ErrNotFound, "the image that the lock pins, %s, is not on this machine", pin)
	e.Code = "JOY-NO-IMAGE"
	if profile == "" {
		return e.WithHint("joy image list shows what is here")
	}
	return e.WithHint("joy image build --profile %s; if its digest differs, joy build --update image", profile)
}

// holdImage keeps joy gc --cache from the image until the run has ended.
func (a *app) holdImage(pin string) (release func(), err error) {
	if pin == "" || a.cfg.Sandbox != microvm.Name {
		return func() {}, nil
	}
	img, err := image.Find(a.cfg.Dirs.Cache, pin)
	if err != nil {
		return nil, err
	}
	return image.Hold(img)
}

// keepFile stores a file input under its digest and hands the run the stored bytes.
func (r *record) keepFile(f *os.File) (runner.FileInput, error) {
	obj, err := r.objects.Put(f)
	if err != nil {
		return runner.FileInput{}, err
	}
	return runner.FileInput{Size: obj.Size, SHA256: strings.TrimPrefix(obj.Digest, "sha256:"), Open: func() (io.ReadCloser, error) {
		return r.objects.Open(obj.Digest)
	}}, nil
}

// mayBeAlive is how a run ends that could not see its VM go.
func mayBeAlive(vm string) error {
	e := fault.New(fault.Platform, "the VM %s may still be alive", vm).WithHint("run \"joy gc\" to destroy what is left")
	e.Code = codeVMAlive
	return e
}

// reportRun says on stderr how it ended and what to do next, and turns the outcome into an exit code.
func (a *app) reportRun(ctx context.Context, rec *record, out runner.Outcome) error {
	if err := rec.writeResult(out); err != nil {
		a.warn("result.json could not be written: %v", err)
	}
	a.sayOutcome(rec, out)
	switch {
	case out.VM != "":
		return mayBeAlive(out.VM)
	case out.Status == runner.Interrupted && a.json:
		return exit(exitCode(context.Cause(ctx))) // stdout is the ledger, and run.finished says it
	case out.Status == runner.Interrupted:
		return context.Cause(ctx)
	case out.RecordErr != nil:
		return fault.Wrap(fault.Ledger, out.RecordErr, "the ledger could not be written; the run was ended")
	case out.Failure == nil:
		return nil
	case out.Failure.Timeout:
		return exit(exitCodeOf(fault.Timeout))
	case out.Failure.Drift:
		return exit(exitCodeOf(fault.Drift))
	case out.Failure.Consent:
		return exit(exitCodeOf(fault.Consent))
	default:
		return exit(exitCodeOf(out.Failure.Kind))
	}
}
