package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// maxIndex bounds a git index, in bytes; the largest public work trees are below half of it.
const maxIndex = 512 << 20

// checkUntracked refuses a directory with anything in it that git tracks: its content would come from whoever can
// push. Git's own files are read; git is never run, because a repository's configuration can make it run programs.
func checkUntracked(path string) error {
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return fault.Wrap(fault.Platform, err, "look at the state directory")
	}
	top, gitDir := workTree(parent)
	if gitDir == "" {
		return nil
	}
	rel, err := filepath.Rel(top, filepath.Join(parent, filepath.Base(path)))
	if err != nil {
		return fault.Wrap(fault.Platform, err, "look at the state directory")
	}
	tracked, err := trackedIn(gitDir, filepath.ToSlash(rel))
	if err != nil {
		return fault.Wrap(fault.Platform, err, "find out whether git tracks the state directory").
			WithHint("name a place outside the repository with --state-dir")
	}
	if tracked != "" {
		return refuse(path, "holds "+tracked+", which git tracks",
			"git rm -r --cached "+rel+", and add .joy/ to .gitignore")
	}
	return nil
}

// workTree finds the work tree around dir and its git directory; both are "" outside of one.
func workTree(dir string) (top, gitDir string) {
	for {
		if gitDir := gitDirOf(filepath.Join(dir, ".git")); gitDir != "" {
			return dir, gitDir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// gitDirOf follows the file that linked work trees and submodules have in place of a directory.
func gitDirOf(dotGit string) string {
	info, err := os.Stat(dotGit)
	if err != nil {
		return ""
	}
	if info.IsDir() {
		return dotGit
	}
	text, err := ordinary.Read(dotGit, 4096)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	target = filepath.FromSlash(strings.TrimSpace(target))
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(dotGit), target)
	}
	return target
}

// trackedIn returns the first tracked path at or below rel. A repository without an index tracks nothing yet. Of a
// split index both halves count, even for a path that the newer half has deleted: git rm ends that too.
func trackedIn(gitDir, rel string) (string, error) {
	for name := "index"; name != ""; {
		data, err := ordinary.Read(filepath.Join(gitDir, name), maxIndex)
		if errors.Is(err, fs.ErrNotExist) && name == "index" {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		tracked, link, err := trackedUnder(data, rel)
		if err != nil || tracked != "" {
			return tracked, err
		}
		if name != "index" {
			return "", nil // a shared index has none of its own
		}
		name = link
	}
	return "", nil
}
