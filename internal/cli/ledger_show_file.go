package cli

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// ranFile is a pinned file that a run's VM was given.
type ranFile struct {
	path string // in the project
	inVM string // below /workspace; "" for setup's
	file plan.File
}

// ledgerBundleFile prints a file as it ran: the ledger names the plan, the plan the file's digest, and the objects hold
// the bytes of that digest.
func (a *app) ledgerBundleFile(args []string, name string) error {
	if len(args) > 0 && a.namesFile(args[0]) {
		return usage(fmt.Errorf("--file needs a run of the project: the files that ran are kept beside its ledger"), "joy ledger show RUN --file %s", name)
	}
	dir, run, err := a.resolveRun(firstArg(args))
	if err != nil {
		return err
	}
	f, err := openRunLedger(run)
	if err != nil {
		return err
	}
	defer f.Close()
	rep, err := verify.Check(f, verify.Options{})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger")
	}
	if rep.State == verify.Broken {
		return ledgerFault(a.relative(filepath.Join(run.Dir, ledgerFile)), rep)
	}
	t, err := readTarget(run.Dir, filepath.Join(run.Dir, build.LockName), run.ID+"/"+build.LockName)
	if err != nil {
		return err
	}
	if t.plan.Digest != rep.PlanDigest {
		return fault.New(fault.Ledger, "the plan kept with the run is %s, and its ledger is of %s", t.plan.Digest, rep.PlanDigest).At(t.name, 0, 0)
	}
	found, err := findRan(t.plan, name)
	if err != nil {
		return err
	}
	store, err := artifact.OpenExisting(dir.ObjectsDir())
	if err != nil {
		return err
	}
	defer store.Close()
	r, err := store.Open("sha256:" + found.file.SHA256)
	if err != nil {
		return err
	}
	defer r.Close()
	body, err := io.ReadAll(io.LimitReader(r, found.file.Size+1)) // whole, since its digest is known only at its end
	if err != nil {
		return err
	}
	if int64(len(body)) > found.file.Size {
		return fault.Wrap(fault.Ledger, artifact.ErrDigest, "read object sha256:%s", found.file.SHA256)
	}
	a.say("%s as run %s had it: %s, mode %s, sha256:%s", term.Line(found.path), run.ID, term.Size(found.file.Size), found.file.Mode, found.file.SHA256)
	if a.out.tty {
		_, err = a.out.Write(body)
	} else {
		_, err = a.out.raw.Write(body)
	}
	return err
}

// ran lists the files that the plan gives to a VM.
func ran(p *plan.Plan) []ranFile {
	var list []ranFile
	for _, s := range p.Skills {
		for _, f := range s.Files {
			list = append(list, ranFile{path.Join(s.Path, f.Path), path.Join("skills", s.Name, f.Path), f})
		}
	}
	if p.Setup != nil {
		list = append(list, ranFile{p.Setup.Run.Path, "", p.Setup.Run})
	}
	return list
}

// findRan finds a file by its path in the project, in the VM, or by an end of it that only one has.
func findRan(p *plan.Plan, name string) (ranFile, error) {
	clean := path.Clean(filepath.ToSlash(name))
	inVM := strings.TrimPrefix(clean, "/workspace/")
	var ends []ranFile
	var near []string
	for _, f := range ran(p) {
		if f.path == clean || f.inVM != "" && f.inVM == inVM {
			return f, nil
		}
		if strings.HasSuffix(f.path, "/"+clean) {
			ends = append(ends, f)
		}
		near = append(near, f.path)
	}
	switch len(ends) {
	case 1:
		return ends[0], nil
	case 0:
		slices.Sort(near)
		e := fault.New(fault.Input, "no file %q was given to the VM", name)
		if len(near) > 0 {
			shown := near[:min(len(near), 8)]
			e.Hint = "it had " + strings.Join(shown, ", ")
			if len(near) > len(shown) {
				e.Hint += fmt.Sprintf(" and %d more: joy plan show RUN", len(near)-len(shown))
			}
		}
		return ranFile{}, e
	}
	return ranFile{}, fault.New(fault.Input, "%q is %d files: %s and %s", name, len(ends), ends[0].path, ends[1].path).WithHint("write more of its path")
}
