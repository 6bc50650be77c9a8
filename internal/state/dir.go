// Package state is the directory where joy keeps what it did: .joy beside joy.yaml, and the user's index of live runs.
//
// The one rule: nothing is configured from it and nobody else can have prepared it. A directory that is a link,
// another user's, writable by others or tracked by git is refused, never repaired.
package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
)

// Name is the state directory's name beside joy.yaml.
const Name = ".joy"

const (
	runsName    = "runs"
	objectsName = "objects"
)

// ErrNone is in the tree of the error when there is no state directory to read.
var ErrNone = errors.New("no state directory")

// Dir is an opened state directory. It holds no handle and needs no closing.
type Dir struct{ path string }

// Path is the absolute path of the directory.
func (d *Dir) Path() string { return d.path }

// RunsDir holds one directory a run.
func (d *Dir) RunsDir() string { return filepath.Join(d.path, runsName) }

// ObjectsDir holds bytes by their digest.
func (d *Dir) ObjectsDir() string { return filepath.Join(d.path, objectsName) }

// Open opens the state directory of the project at projectDir, or override when that is not empty, and creates it and
// its parts (0700) when they are missing. Both paths are absolute. A directory that cannot be trusted is a
// fault.Policy.
func Open(projectDir, override string) (*Dir, error) {
	d := dirOf(projectDir, override)
	// Two joys may start at once: whoever comes second finds the directory made, and both look at what is there.
	for _, path := range []string{d.path, d.RunsDir(), d.ObjectsDir()} {
		if err := make0700(path); err != nil {
			return nil, fault.Wrap(fault.Platform, err, "create the state directory").
				WithHint("name a writable place with --state-dir or JOY_STATE_DIR")
		}
		if err := checkDir(path); err != nil {
			return nil, err
		}
	}
	if err := checkUntracked(d.path); err != nil {
		return nil, err
	}
	return d, nil
}

// OpenExisting is Open for commands that only read: it creates nothing. ErrNone is in the tree when there is nothing.
func OpenExisting(projectDir, override string) (*Dir, error) {
	d := dirOf(projectDir, override)
	if _, err := os.Lstat(d.path); errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(fault.Input, ErrNone, "no run has been recorded here").
			At(d.path, 0, 0).WithHint("run \"joy run\" first, or name the place with -C or --state-dir")
	}
	for _, path := range []string{d.path, d.RunsDir(), d.ObjectsDir()} {
		if err := checkDir(path); err != nil && (path == d.path || !errors.Is(err, fs.ErrNotExist)) {
			return nil, err
		}
	}
	if err := checkUntracked(d.path); err != nil {
		return nil, err
	}
	return d, nil
}

// PathOf is where the state directory of the project at projectDir is, whether it is there or not.
func PathOf(projectDir, override string) string { return dirOf(projectDir, override).path }

func dirOf(projectDir, override string) *Dir {
	if override != "" {
		return &Dir{filepath.Clean(override)}
	}
	return &Dir{filepath.Join(projectDir, Name)}
}

// make0700 leaves an existing directory as it is. Mkdir follows no link: on one it fails with "exists".
func make0700(path string) error {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// PrivateDir makes a directory of the user's alone (0700), with those above it, where it is missing, and refuses one that
// somebody else may have prepared.
func PrivateDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fault.Wrap(fault.Platform, err, "create a directory of joy's own")
	}
	return checkDir(path)
}

// checkDir refuses what somebody else may have prepared.
func checkDir(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "look at the state directory")
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(path, "is a link; joy does not follow it", "remove the link, or name its target with --state-dir")
	case !info.IsDir():
		return refuse(path, "is not a directory", "move it away")
	}
	return checkOwner(path, info)
}

func refuse(path, why, hint string) error {
	e := fault.New(fault.Policy, "the state directory %s", why).At(path, 0, 0).WithHint("%s", hint)
	e.Code = "JOY-STATE"
	return e
}
