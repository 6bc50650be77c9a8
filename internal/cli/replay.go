package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/replay"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/secret"
)

func newReplayCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "replay RUN|FILE",
		Short: "Run a past run again from its record alone, and say what was the same",
		Long: "replay runs a past run again: the bytes that ran then, answered by what its models replied and its tools returned.\n" +
			"Scripts run for real, in a VM of their own. No key, no network and no connection is needed or used.\n\n" +
			"It ends with 0 when every step and every artifact is the same, and with 1 at the first difference. The replay is a\n" +
			"run with a ledger of its own. FILE is what \"joy ledger export --format replay\" has written.",
		Args:              argsBetween(1, 1, "a run or a record file"),
		ValidArgsFunction: a.completeRuns,
		Example: "  joy replay latest\n" +
			"  joy replay testdata/weekly.replay",
		RunE: func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), args[0]) },
	}
	cmd.Flags().String("sandbox", "", "where VMs come from: microvm (default)")
	return cmd
}

// maxReplayed bounds the ledger of a run that is repeated, in bytes.
const maxReplayed = 256 << 20

// pastRun is a run that is to be repeated: what was frozen, and what was answered.
type pastRun struct {
	target *target
	record *replay.Record
	ledger []byte
	logs   string // directory of its captured output; "": not here
}

// openPast reads a run of this project, or a record file, whose bodies it puts into the project's object store.
func (a *app) openPast(ref string, rec *record) (*pastRun, error) {
	if a.namesFile(ref) {
		return a.openPastFile(ref, rec)
	}
	_, run, err := a.resolveRun(ref)
	if err != nil {
		return nil, err
	}
	t, err := readTarget(a.dir, filepath.Join(run.Dir, build.LockName), run.ID+"/"+build.LockName)
	if err != nil {
		return nil, err
	}
	f, err := openRunLedger(run)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var ledger []byte
	info, err := f.Stat()
	if err == nil && info.Size() <= maxReplayed {
		ledger, err = io.ReadAll(io.LimitReader(f, maxReplayed))
	} else if err == nil {
		return nil, fault.New(fault.Input, "the ledger of %s is longer than %d MiB, and a replay compares it in memory", run.ID, maxReplayed>>20)
	}
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "read the ledger of %s", run.ID)
	}
	return a.newPast(t, ledger, rec, filepath.Join(run.Dir, "logs"))
}

func (a *app) openPastFile(name string, rec *record) (*pastRun, error) {
	f, err := a.openInput(name)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "open the record")
	}
	defer f.Close()
	var p *plan.Plan
	needs := func(parts replay.Parts) (list []string, err error) {
		if p, err = plan.Decode(parts.Lock, name); err != nil {
			return nil, err
		}
		return replay.Needs(parts, p)
	}
	parts, err := replay.Unpack(f, needs, func(_ string, b []byte) error {
		_, err := rec.objects.PutBytes(b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return a.newPast(&target{dir: a.dir, name: name, lock: parts.Lock, plan: p}, parts.Ledger, rec, "")
}

func (a *app) newPast(t *target, ledger []byte, rec *record, logs string) (*pastRun, error) {
	t.kept = true
	r, err := replay.Read(bytes.NewReader(ledger), rec.objects.Open)
	if err != nil {
		return nil, err
	}
	if r.Plan != t.plan.Digest {
		return nil, fault.New(fault.Drift, "the record is of plan %.19s…, and the lock beside it is %.19s…", r.Plan, t.plan.Digest)
	}
	return &pastRun{t, r, ledger, logs}, nil
}

// inputs are what the run was given, from its record.
func (p *pastRun) inputs(rec *record) *inputs {
	in := &inputs{json: p.record.Input, files: map[string]runner.FileInput{}}
	for name, f := range p.record.Files {
		in.files[name] = runner.FileInput{Name: f.Name, Size: f.Size, SHA256: strings.TrimPrefix(f.Digest, "sha256:"), Open: func() (io.ReadCloser, error) {
			return rec.objects.Open(f.Digest)
		}}
	}
	return in
}

// askedModel is who the run asked, as --model names it.
func (p *pastRun) askedModel() string {
	if m := p.record.Model; m.Provider != "" {
		return m.Provider + "/" + m.Name
	}
	return ""
}

// prompting has the model answer from the record, through the code that reads a real one's answers.
func (p *pastRun) prompting(m *plan.Model, secrets *secret.Set) runner.Prompting {
	if m == nil {
		return runner.Prompting{}
	}
	wire := model.Wire{Base: p.record.Transport(func(b []byte) []byte {
		clean, _ := secrets.Redact(b)
		return clean
	})}
	return runner.Prompting{
		Model: modelProviders[m.Provider].connect(m.Name, m.BaseURL, wire), Provider: m.Provider, Name: m.Name,
		MaxTurns: m.MaxTurns, MaxTokens: int64(m.MaxTokens), MaxCost: m.MaxCost, Price: priceOf(m), Expect: p.record.Expect,
	}
}

// replay runs it again and compares.
func (a *app) replay(ctx context.Context, ref string) error {
	rec, err := a.openRecord(&target{dir: a.dir})
	if err != nil {
		return err
	}
	defer rec.close()
	was, err := a.openPast(ref, rec)
	if err != nil {
		return err
	}
	if err := a.refuseOtherImage(was); err != nil {
		return err
	}
	out, err := a.again(ctx, rec, was, was.target, was.inputs(rec), &standIn{
		trigger: "replay", of: was.record.Run, answers: was.record.Call, model: was.askedModel(), secrets: secret.NewScrubber(),
		lockFile: a.lockFile(""), // whose signature holds when it is of the same plan
	})
	if err != nil {
		return err
	}
	return a.sayReplay(rec, was, out)
}

// refuseOtherImage names an image that differs before anything is run on it.
func (a *app) refuseOtherImage(was *pastRun) error {
	pin, err := a.pinnedImage(was.target.plan)
	if err == nil && was.record.Image != "" && was.record.Image != pin {
		return fault.New(fault.Drift, "the run was on image %.19s…, and its plan pins %.19s…", was.record.Image, pin)
	}
	return err
}

// again executes a plan answered by the record of a past run. No connection is started and no host is reached, so that nothing
// of the project has to be trusted for it.
// The operator's policy holds for it as for any run.
func (a *app) again(ctx context.Context, rec *record, was *pastRun, t *target, in *inputs, s *standIn) (runner.Outcome, error) {
	none := runner.Outcome{}
	m, err := modelOf(t.plan, s.model)
	if err != nil {
		return none, err
	}
	provider, err := a.provider(t.plan)
	if err != nil {
		return none, err
	}
	if err := a.refuseTooLarge(t); err != nil {
		return none, err
	}
	bounds, err := a.judge(t.asking(m), s.lockFile, provider.Name())
	if err != nil {
		return none, err
	}
	pin, err := a.pinnedImage(t.plan)
	if err != nil {
		return none, err
	}
	release, err := a.holdImage(pin)
	if err != nil {
		return none, err
	}
	defer release()
	seal, err := a.openSealer(t, "")
	if err != nil {
		return none, err
	}
	secrets := s.secrets
	var tee io.Writer
	if a.out.tty && !a.json {
		tee = a.liveView(t.plan)
	}
	if err := rec.begin(t, tee); err != nil {
		return none, err
	}
	if err := seal.begin(ctx, rec); err != nil {
		return none, err
	}
	done := rec.execute(ctx, a, execution{
		target: t, provider: provider, image: pin, in: in, secrets: secrets, model: was.prompting(m, secrets),
		standIn: s, bounds: bounds,
	})
	unsealed := seal.end(ctx, rec, done.RecordErr)
	if err := rec.ledger.Close(); done.RecordErr == nil {
		done.RecordErr = err
	}
	if err := rec.writeResult(done); err != nil {
		a.warn("result.json could not be written: %v", err)
	}
	switch {
	case done.VM != "":
		return done, mayBeAlive(done.VM)
	case done.RecordErr != nil:
		return done, fault.Wrap(fault.Ledger, done.RecordErr, "the ledger could not be written; the run was ended")
	case done.Status == runner.Interrupted:
		return done, context.Cause(ctx)
	}
	return done, unsealed
}

// answers are a broker's Answers.
type answers func(ctx context.Context, step, action string, args json.RawMessage) (connection.Result, error)

// standIn answers in place of everything outside: nothing is called and no host is reached, so that what the plan wants approved
// may pass.
type standIn struct {
	trigger string // replay | exercise
	of      string // the run on record; "": none
	answers answers
	model   string // PROVIDER/NAME that was asked then; "": the plan's
	secrets *secret.Set

	lockFile string // where the lock is, for the signature beside it
}

func (s *standIn) take(cfg *broker.Config, started ledger.Data) {
	started["trigger"] = s.trigger
	if s.of != "" {
		started["of_run"] = s.of
	}
	none := errors.New("there is no network in a " + s.trigger)
	cfg.Answers = s.answers
	cfg.Approver = func(context.Context, broker.Approval) (string, error) { return s.trigger, nil }
	cfg.Dialer = egress.Dialer{
		Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, none },
		Dial:   func(context.Context, netip.AddrPort) (net.Conn, error) { return nil, none },
	}
}

// stepsOf are the steps of a plan with its setup.
func stepsOf(p *plan.Plan) []string {
	var ids []string
	if p.Setup != nil {
		ids = append(ids, setupStep)
	}
	for _, s := range p.Steps {
		ids = append(ids, s.ID)
	}
	return ids
}
