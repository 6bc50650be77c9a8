package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/state"
)

// sealFile is the seal's name beside a ledger, spelled out as ledgerFile is.
const sealFile = "seal.note"

// verdict is what is known of one ledger, and from what.
type verdict struct {
	verify.Verdict
	file   string // as messages name it
	proofs []proofJSON

	maintenance maintenance // what joy did to the run since
}

// judgeLedger checks a ledger and holds it against everything there is: its seal, the place it lies in, the index, the witness.
// The error is only that of reading.
func (a *app) judgeLedger(f io.Reader, shown string, o verifyOptions) (verdict, error) {
	rep, err := verify.Check(f, verify.Options{Each: o.each})
	if err != nil {
		return verdict{file: shown}, fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	return a.judgeReport(rep, shown, o)
}

// judgeReport holds what was found of a ledger's lines against everything else there is.
func (a *app) judgeReport(rep verify.Report, shown string, o verifyOptions) (v verdict, err error) {
	v.file = shown
	ev := verify.Evidence{Keys: o.keys, Head: o.head}
	dir := filepath.Dir(a.abs(shown))
	if ev.Seal, err = a.readSeal(dir, o.seal); err != nil {
		return v, err
	}
	problem := a.misplaced(dir, rep)
	v.Verdict = verify.Judge(rep, ev)
	if v.State != verify.Broken {
		v.breakWith(problem, 1)
	}
	v.proveSeal(a.ownPublicKey(rep.Workspace))
	if o.head != "" && v.State != verify.Broken {
		v.prove("head", "", "the head matches the one given")
	}
	run := v.Run
	if run == "" { // an empty ledger does not say whose it is
		run = filepath.Base(dir)
	}
	v.heldByIndex(state.OpenIndex(a.cfg.Dirs.State), run)
	if err := v.heldByWitness(dir, o.told); err != nil {
		return v, err
	}
	v.heldByMaintenance(state.OpenIndex(a.cfg.Dirs.State), dir, run)
	if len(v.proofs) == 0 && v.Entries > 0 && v.State != verify.Broken {
		v.prove("chain", "", "chain only: each line follows from the one before; nothing shows where the ledger ends, nor who wrote it")
	}
	return v, nil
}

func (v *verdict) prove(kind, by, format string, args ...any) {
	v.proofs = append(v.proofs, proofJSON{kind, by, fmt.Sprintf(format, args...)})
}

// breakWith makes the ledger broken for a reason that is not in its lines.
func (v *verdict) breakWith(problem string, line int) {
	if problem != "" {
		v.State, v.Line, v.Problem, v.proofs = verify.Broken, line, problem, nil
	}
}

// proveSeal says whose key the seal is of, as far as that is known. own is the key of that workspace on this machine.
func (v *verdict) proveSeal(own string) {
	if v.Seal == nil || v.State == verify.Broken {
		return
	}
	by := v.Seal.Signers[0]
	switch {
	case len(v.Signed) > 0:
		v.prove("key", by, "sealed by %s, with the key given", by)
	case own != "" && own == v.SealKey:
		v.prove("own-key", by, "sealed by %s, the key of the workspace on this machine", by)
	default:
		v.prove("self-signed", by, "self-signed by %s: only the ledger says whose key that is", by)
	}
}

// heldByIndex compares with what joy noted outside the project when the run ended.
func (v *verdict) heldByIndex(index *state.Index, run string) {
	h, err := index.Head(run)
	if errors.Is(err, fs.ErrNotExist) || v.State == verify.Broken {
		return
	}
	switch {
	case err != nil:
		v.breakWith("your index of runs cannot be read: "+err.Error(), 0)
	case h.Entries == 0: // it began, and did not end yet or by itself
		if lives, _ := index.List(); slices.ContainsFunc(lives, func(l state.Live) bool { return l.Run == run && l.Alive() }) {
			v.Problem = "the run goes on"
		}
	case v.Entries < h.Entries:
		v.breakWith(fmt.Sprintf("your index of runs has %d entries of it, and %d are here: the end was cut off", h.Entries, v.Entries), 0)
	case v.Head != h.Head:
		v.breakWith("your index of runs has the head "+h.Head+", and the ledger's is "+v.Head+": it was written anew", 0)
	default:
		v.prove("index", "", "the head is the one in your index of runs")
	}
}

// readSeal reads the seal at path, or beside a ledger; without one there it is nil.
func (a *app) readSeal(dir, path string) ([]byte, error) {
	given := path != ""
	file := filepath.Join(dir, sealFile)
	if given {
		file = a.abs(path)
	}
	data, err := ordinary.Read(file, verify.MaxSeal)
	if errors.Is(err, fs.ErrNotExist) && !given {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the seal").At(a.relative(file), 0, 0)
	}
	return append([]byte{}, data...), nil // an empty seal is a seal that cannot be read
}

// misplaced says why a ledger in the directory of a run is not that run's: a chain that holds says nothing of where it
// lies, and one run's ledger could be put in place of another's. It is "" for a ledger that lies anywhere else.
func (a *app) misplaced(dir string, rep verify.Report) string {
	id := filepath.Base(dir)
	if rep.Entries == 0 || !state.ValidID(id) {
		return ""
	}
	if rep.Run != id {
		return "it is the ledger of run " + rep.Run + ", in the directory of run " + id
	}
	t, err := readTarget(dir, filepath.Join(dir, build.LockName), build.LockName)
	if err == nil && t.plan.Digest != rep.PlanDigest {
		return "it is of the plan " + rep.PlanDigest + ", and the plan kept with it is " + t.plan.Digest
	}
	return ""
}

var workspaceForm = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

// ownPublicKey is this machine's key of a workspace, or "". The name comes from a ledger: it must not lead elsewhere.
func (a *app) ownPublicKey(workspace string) string {
	if !workspaceForm.MatchString(workspace) {
		return ""
	}
	key, err := notekey.Workspace.Read(a.workspaceKeyFile(workspace))
	if err != nil {
		return ""
	}
	return key.Public.String()
}

// verifyKeys reads what --key names and tells the keys of workspaces from those of witnesses.
func (a *app) verifyKeys(given []string) (workspaces, witnesses []string, err error) {
	for _, text := range given {
		if a.isPath(text) {
			data, err := ordinary.Read(a.abs(text), verify.MaxSeal)
			if err != nil {
				return nil, nil, fault.Wrap(fault.Input, err, "read the key").At(text, 0, 0)
			}
			text = string(data)
		}
		text = strings.TrimSpace(text)
		if key, err := notekey.Workspace.Parse(text); err == nil {
			workspaces = append(workspaces, key.String())
		} else if err := notekey.CheckForeign(text); err == nil {
			witnesses = append(witnesses, text)
		} else {
			return nil, nil, err
		}
	}
	return workspaces, witnesses, nil
}

// resolveRun finds a run of the project. One that is not there and that the index knows is told as what became of it.
func (a *app) resolveRun(ref string) (*state.Dir, state.Run, error) {
	var run state.Run
	dir, err := a.existingState(a.dir)
	if err != nil && !errors.Is(err, state.ErrNone) {
		return dir, run, err // it cannot be looked at: nobody can say that anything is gone
	}
	if err == nil {
		run, err = dir.Resolve(ref)
	}
	if err == nil {
		ref = run.ID
	}
	h, herr := state.OpenIndex(a.cfg.Dirs.State).Head(ref)
	switch {
	case herr != nil || err == nil && h.Removed == nil:
		return dir, run, err
	case h.Removed != nil:
		return dir, run, fault.New(fault.Input, "run %s was %s", ref, removalText(h.Removed)).WithHint("joy ledger list shows the runs that are there")
	}
	return dir, run, fault.New(fault.Ledger, "the ledger of run %s is gone: your index of runs has %d entries of it", ref, h.Entries).
		At(filepath.Join(h.StateDir, "runs", ref, ledgerFile), 0, 0)
}
