// Package git reads a file as a past commit has it, out of a repository's own files.
//
// The one rule: a repository is what a stranger wrote. Git is never run and no configuration is obeyed, because both can
// start programs; nothing is written, no link is followed out of the git directory, and every size has a limit.
//
// Read are loose objects and packs of version 2 with indexes of version 2
// (https://git-scm.com/docs/gitformat-pack), in SHA-1 and SHA-256 repositories. Not read are reftables, and objects that
// are promised by a remote: a partial clone says so.
package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Limits of what is read. The first two are the largest lock that joy reads, and what a deep delta chain of such may
// cost.
const (
	maxObject    = 64 << 20  // one object, inflated, in bytes
	maxInflated  = 512 << 20 // all objects of one Repo, in bytes
	maxRefs      = 64 << 20  // packed-refs, in bytes
	maxSmall     = 4096      // HEAD, a ref, .git, commondir, alternates, in bytes
	maxPacks     = 4096
	maxAlternate = 8
	maxChain     = 4096 // deltas upon deltas; git itself writes at most 4095
	maxHops      = 8    // symbolic refs, tags of tags
	maxBack      = 10_000
)

// ErrNone says that there is no repository around a directory.
var ErrNone = errors.New("this is not in a git repository")

// ErrNotFound says that a revision has no such file, or that a repository has no such revision or object.
var ErrNotFound = errors.New("not found")

// Repo is a repository that is open for reading. It is not safe for concurrent use.
type Repo struct {
	Top string // absolute; the work tree

	dirs    []*os.Root // where refs are: the work tree's own git directory, then the one it shares with others
	objects []*os.Root
	left    int64 // of maxInflated
}

// Open finds the repository around dir (absolute). The error is ErrNone when there is none. The caller closes it.
func Open(dir string) (*Repo, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("look for a repository: %w", err)
	}
	for top := dir; ; top = filepath.Dir(top) {
		gitDir, err := gitDirOf(top)
		if err == nil {
			return open(top, gitDir)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("look for a repository: %w", err)
		}
		if top == filepath.Dir(top) {
			return nil, ErrNone
		}
	}
}

// gitDirOf follows the file that linked work trees and submodules have in place of a directory.
func gitDirOf(top string) (string, error) {
	dotGit := filepath.Join(top, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		return dotGit, nil
	}
	text, err := readSmall(os.DirFS(top), ".git")
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return "", fmt.Errorf("%s is no git directory and names none", dotGit)
	}
	return within(top, strings.TrimSpace(target)), nil
}

func open(top, gitDir string) (*Repo, error) {
	r := &Repo{Top: top, left: maxInflated}
	own, err := os.OpenRoot(gitDir)
	if err != nil {
		return nil, fmt.Errorf("open the git directory: %w", err)
	}
	r.dirs = append(r.dirs, own)
	shared := gitDir
	if text, err := readSmall(own.FS(), "commondir"); err == nil {
		shared = within(gitDir, text)
		root, err := os.OpenRoot(shared)
		if err != nil {
			r.Close()
			return nil, fmt.Errorf("open the shared git directory: %w", err)
		}
		r.dirs = append(r.dirs, root)
	}
	if err := r.addObjects(filepath.Join(shared, "objects")); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// addObjects opens an object directory and those it borrows from, which `git clone --shared` makes. An alternate that is
// gone is left out: the object that is missed names itself.
func (r *Repo) addObjects(first string) error {
	root, err := os.OpenRoot(first)
	if err != nil {
		return fmt.Errorf("open the objects: %w", err)
	}
	r.objects = append(r.objects, root)
	seen := map[string]bool{first: true}
	for queue := []string{first}; len(queue) > 0 && len(r.objects) < maxAlternate; queue = queue[1:] {
		text, err := readSmall(os.DirFS(queue[0]), "info/alternates")
		if err != nil {
			continue
		}
		for _, line := range strings.Split(text, "\n") {
			dir := within(queue[0], line)
			if line == "" || strings.HasPrefix(line, "#") || seen[dir] || len(r.objects) >= maxAlternate {
				continue
			}
			seen[dir] = true
			if root, err := os.OpenRoot(dir); err == nil {
				r.objects = append(r.objects, root)
				queue = append(queue, dir)
			}
		}
	}
	return nil
}

// Close lets go of the repository's directories.
func (r *Repo) Close() {
	for _, root := range append(r.dirs, r.objects...) {
		_ = root.Close() // only read
	}
}

// Rel is file (absolute) relative to the work tree, with forward slashes; the error says that it is outside.
func (r *Repo) Rel(file string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(r.Top, filepath.Join(dir, filepath.Base(file)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%s is outside of %s", file, r.Top)
	}
	return filepath.ToSlash(rel), nil
}

func within(base, target string) string {
	target = filepath.FromSlash(target)
	if filepath.IsAbs(target) {
		return filepath.Clean(target)
	}
	return filepath.Join(base, target)
}

// readSmall reads one of git's short text files, without the white space around it.
func readSmall(fsys fs.FS, name string) (string, error) {
	data, err := readCapped(fsys, name, maxSmall)
	return strings.TrimSpace(string(data)), err
}

func readCapped(fsys fs.FS, name string, limit int64) ([]byte, error) {
	f, err := openRegular(fsys, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", name, limit)
	}
	return data, err
}

// openRegular refuses what is no ordinary file before opening it: a pipe would hold joy until somebody writes.
func openRegular(fsys fs.FS, name string) (fs.File, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not an ordinary file", name)
	}
	return fsys.Open(name)
}
