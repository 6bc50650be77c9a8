package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/state"
)

// target is the frozen plan a command works on and where its bundles are.
type target struct {
	dir  string // absolute; of the project
	name string // of the lock, as messages call it
	lock []byte
	plan *plan.Plan
	kept bool // the plan of a past run: its bundles are in the object store and not on disk
}

// loadTarget reads the lock of arg: a project's directory, a lock file, or a run of the project here.
func (a *app) loadTarget(arg string) (*target, error) {
	if arg == "" {
		arg = "."
	}
	path := a.abs(arg)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && state.ValidID(arg):
		return a.runTarget(arg)
	case err != nil:
		return nil, fault.Wrap(fault.Input, err, "open %s", arg)
	case info.IsDir():
		return readTarget(path, filepath.Join(path, build.LockName), filepath.ToSlash(filepath.Join(arg, build.LockName)))
	default:
		return readTarget(filepath.Dir(path), path, filepath.ToSlash(arg))
	}
}

func readTarget(dir, path, name string) (*target, error) {
	lock, err := ordinary.Read(path, plan.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		e := fault.New(fault.Drift, "there is no %s", name).WithHint("run joy build")
		if !buildable(dir) {
			e = fault.New(fault.Drift, "there is no %s, and nothing to freeze: neither a joy.yaml nor a SKILL.md", name).
				WithHint("name the agent's directory, or scaffold one with joy init DIR")
		}
		e.Code = "JOY-NO-LOCK"
		return nil, e
	}
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "read the lock")
	}
	p, err := plan.Decode(lock, name)
	if err != nil {
		return nil, err
	}
	return &target{dir: dir, name: name, lock: lock, plan: p}, nil
}

// buildable says whether joy build would find something in dir.
func buildable(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == build.SpecName || digest.IsSkillFile(e.Name())
	})
}

// runTarget is the plan of a past run, from its own record.
func (a *app) runTarget(id string) (*target, error) {
	_, run, err := a.resolveRun(id)
	if err != nil {
		return nil, err
	}
	t, err := readTarget(a.dir, filepath.Join(run.Dir, build.LockName), run.ID+"/"+build.LockName)
	if err != nil {
		return nil, err
	}
	t.kept = true
	return t, nil
}

// checkDrift compares every byte on disk with its pin; visit gets the pinned bytes of each file that goes into the VM. Nothing is
// judged again: drift is bytes against digests.
func (t *target) checkDrift(visit func(digest.Content) error) error {
	if t.kept {
		return nil
	}
	root, err := ordinary.OpenRoot(t.dir)
	if err != nil {
		return fault.Wrap(fault.Input, err, "open the project")
	}
	defer root.Close()
	var drift []error
	if f := t.plan.Agent.Spec; f.Path != "" {
		drift = append(drift, driftOf(root.FS(), f, nil))
	}
	if t.plan.Setup != nil {
		drift = append(drift, driftOf(root.FS(), t.plan.Setup.Run, visit))
	}
	for _, name := range slices.Sorted(maps.Keys(t.plan.Connections)) {
		for _, f := range t.plan.Connections[name].Files {
			drift = append(drift, driftOf(root.FS(), f, nil)) // it runs on this side of the VM
		}
	}
	for _, s := range t.plan.Skills {
		pins := make([]digest.File, len(s.Files))
		for i, f := range s.Files {
			pins[i] = digest.File(f)
		}
		differences, err := digest.Match(root.FS(), s.Path, pins, digest.Options{}, visit)
		if errors.Is(err, fs.ErrNotExist) {
			drift = append(drift, fault.New(fault.Drift, "the bundle is pinned as %s and is missing", s.Digest).At(s.Path, 0, 0))
			continue
		}
		if err != nil {
			return err
		}
		for _, d := range differences {
			drift = append(drift, d.Fault(s.Path))
		}
	}
	return errors.Join(drift...)
}

// driftOf compares one file outside the bundles. The error is nil when it is what was pinned.
func driftOf(fsys fs.FS, pin plan.File, visit func(digest.Content) error) error {
	info, err := fs.Stat(fsys, pin.Path)
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("not an ordinary file") // opening a pipe would hold joy until somebody writes
	case info.Size() > digest.MaxFileBytes:
		return fault.Wrap(fault.Input, fmt.Errorf("larger than %d MiB", digest.MaxFileBytes>>20), "read a file of the project").At(pin.Path, 0, 0)
	}
	var b []byte
	if err == nil {
		b, err = fs.ReadFile(fsys, pin.Path)
	}
	if err != nil {
		return digest.Difference{Path: pin.Path, Kind: digest.Missing, Want: "sha256:" + pin.SHA256}.Fault(".")
	}
	data, same := digest.File(pin).Match(b)
	switch {
	case !same:
		return digest.Difference{Path: pin.Path, Kind: digest.Changed, Want: "sha256:" + pin.SHA256, Got: digest.Bytes(b)}.Fault(".")
	case visit == nil:
		return nil
	}
	return visit(digest.Content{File: digest.File(pin), Data: data})
}
