package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/freeze"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/skill"
	"github.com/joystream-ai/joy/internal/state"
)

func newFreezeCmd(a *app) *cobra.Command {
	var run, out string
	var force bool
	cmd := &cobra.Command{
		Use:   "freeze STEP --from RUN",
		Short: "Turn the commands a model used in a good run into a declared script",
		Long: "freeze writes a new bundle, whose script does what the model did in a step of a past run: its files, its scripts and its\n" +
			"calls, in their order. What failed or only looked around is left in it as a comment. Values of the step's input are read\n" +
			"from JOY_INPUT_<NAME> where that is safe. Every place that needs a person's eye says REVIEW; the script is yours to edit.\n" +
			"Nothing is run and nobody is asked.",
		Args: argsBetween(1, 1, "one step"),
		Example: "  joy freeze report --from latest\n" +
			"  joy freeze report --from 20261124-180300-k3fq2a -o skills/weekly-report",
		RunE: func(cmd *cobra.Command, args []string) error {
			if run == "" {
				return usagef(cmd, "--from names the run to take it from: a good one, such as latest")
			}
			return a.freeze(args[0], run, out, force)
		},
	}
	cmd.Flags().StringVar(&run, "from", "", "take what was done in `RUN`")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write the bundle to `DIR` (default skills/SKILL-frozen)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are in the way")
	return cmd
}

// frozenStep is a step of a past run with all that a script is made from.
type frozenStep struct {
	run    state.Run
	step   plan.Step
	skill  plan.Skill
	record *freeze.Record
	store  *artifact.Store
	files  []string // inputs of the run that were files, by their path in the VM
}

func (a *app) freeze(step, ref, out string, force bool) error {
	dir, run, err := a.resolveRun(ref)
	if err != nil {
		return err
	}
	if gone := readMaintenance(state.OpenIndex(a.cfg.Dirs.State), run.Dir, run.ID, "").text(); gone != "" {
		return fault.New(fault.Input, "what ran in %s is not kept any more: %s", run.ID, gone)
	}
	f := &frozenStep{run: run, record: &freeze.Record{Step: step}}
	if err := a.readFrozen(f); err != nil {
		return err
	}
	if f.store, err = artifact.OpenExisting(dir.ObjectsDir()); err != nil {
		return err
	}
	defer f.store.Close()
	if out == "" {
		out = path.Join("skills", f.skill.Name+"-frozen")
	}
	name := filepath.Base(a.abs(out))
	if !skillName.MatchString(name) || len(name) > maxSkillName {
		return fault.New(fault.Input, "%q is not a name for a bundle: at most %d of a-z and 0-9, with single hyphens between", name, maxSkillName).
			WithHint("name a directory with -o skills/NAME")
	}
	files, made, err := a.frozenBundle(f, name)
	if err != nil {
		return err
	}
	return a.writeFrozen(f, filepath.ToSlash(out), files, made, force)
}

// readFrozen reads the ledger, which has to hold, and the plan that it names.
func (a *app) readFrozen(f *frozenStep) error {
	src, err := openRunLedger(f.run)
	if err != nil {
		return err
	}
	defer src.Close()
	rep, err := verify.Check(src, verify.Options{Each: func(e verify.Entry) {
		f.record.Add(e)
		if e.Type == "run.started" {
			files, _ := e.Data["files"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(files)) {
				file, _ := files[name].(map[string]any)
				f.files = append(f.files, fmt.Sprintf("/workspace/in/%v", file["name"]))
			}
		}
	}})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger")
	}
	if rep.State == verify.Broken {
		return ledgerFault(a.relative(filepath.Join(f.run.Dir, ledgerFile)), rep)
	}
	if err := f.record.Check(f.run.ID); err != nil {
		return err
	}
	t, err := a.runTarget(f.run.ID)
	if err != nil {
		return err
	}
	if t.plan.Digest != rep.PlanDigest {
		return fault.New(fault.Ledger, "the plan kept with the run is %s, and its ledger is of %s", t.plan.Digest, rep.PlanDigest).At(t.name, 0, 0)
	}
	var known bool
	if f.step, known = t.plan.Step(f.record.Step); !known {
		return fault.New(fault.Ledger, "the run's plan has no step %s", f.record.Step).At(t.name, 0, 0)
	}
	f.skill, _ = t.plan.Skill(f.step.Skill)
	return nil
}

// body reads an object of the run.
func (f *frozenStep) body(name string) ([]byte, error) {
	r, err := f.store.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// maxResult is how much of a script's output is looked at for the result.
const maxResult = 1 << 20

// printed is what a script wrote, when it is kept and not too long.
func (f *frozenStep) printed(d freeze.Deed) []byte {
	log, err := openLog(filepath.Join(f.run.Dir, logsDirName), f.step.ID, d.Nth, "stdout")
	if err != nil {
		return nil
	}
	defer log.Close()
	b, err := io.ReadAll(io.LimitReader(log, maxResult+1))
	if err != nil || len(b) > maxResult {
		return nil
	}
	return b
}

// frozenBundle makes the bundle's files: what the old one had beside SKILL.md comes along, since scripts may use it.
func (a *app) frozenBundle(f *frozenStep, name string) (files []scaffoldFile, made freeze.Made, err error) {
	card := freeze.Card{Name: name, Input: f.skill.InputSchema, Output: f.skill.OutputSchema, Entry: "scripts/run.sh"}
	for _, file := range f.skill.Files {
		body, err := f.body("sha256:" + file.SHA256)
		if err != nil {
			return nil, made, err
		}
		if digest.IsSkillFile(file.Path) {
			if card.Description, card.License, err = described(body); err != nil {
				return nil, made, err
			}
			continue
		}
		if file.Path == card.Entry {
			card.Entry = "scripts/frozen.sh"
		}
		mode := fs.FileMode(0o644)
		if file.Mode == digest.ModeExec {
			mode = 0o755
		}
		files = append(files, scaffoldFile{file.Path, body, mode})
	}
	o := freeze.Options{Run: f.run.ID, Skill: f.skill.Name, Name: name, Body: f.body, Printed: f.printed}
	if f.record.Input != "" {
		body, err := f.body(f.record.Input)
		if err != nil {
			return nil, made, err
		}
		if err := json.Unmarshal(body, &o.Input); err != nil {
			return nil, made, fault.Wrap(fault.Ledger, err, "read the step's input")
		}
	}
	for key, v := range o.Input {
		if text, ok := v.(string); ok && slices.Contains(f.files, text) {
			o.Files = append(o.Files, key)
		}
	}
	if made, err = freeze.Write(f.record, o); err != nil {
		return nil, made, err
	}
	files = append(files, scaffoldFile{card.Entry, made.Script, 0o755},
		scaffoldFile{"SKILL.md", card.SkillFile(f.step.ID, f.run.ID, f.skill.Name), 0o644})
	return files, made, nil
}

// described is what a bundle said of itself.
func described(skillFile []byte) (description, license string, err error) {
	dir, err := os.MkdirTemp("", "joy-freeze-")
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), skillFile, 0o600); err != nil {
		return "", "", err
	}
	b, err := skill.Load(os.DirFS(dir), ".", skill.Options{})
	if err != nil {
		return "", "", err
	}
	return b.Description, b.License, nil
}
