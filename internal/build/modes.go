package build

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// gitModes is what git's index records, for a host whose file system has no executable bit. The index is read as a
// file; git is not run. Where there is none, or none that can be read, modes are told by shebang.
type gitModes struct {
	prefix string // of the project in the repository, "" or ending in a slash
	modes  map[string]string
}

func readGitModes(dir string) gitModes {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return gitModes{}
	}
	for root := dir; ; root = filepath.Dir(root) {
		if index := indexOf(filepath.Join(root, ".git")); index != "" {
			return gitModesAt(root, dir, index)
		}
		if root == filepath.Dir(root) {
			return gitModes{}
		}
	}
}

// indexOf takes a repository's .git directory, or the file that leads to it from a worktree.
func indexOf(git string) string {
	info, err := os.Stat(git)
	switch {
	case err != nil:
		return ""
	case info.IsDir():
		return filepath.Join(git, "index")
	}
	const maxPointer = 4096
	if !info.Mode().IsRegular() || info.Size() > maxPointer { // opening a pipe would hold joy until somebody writes
		return ""
	}
	text, _ := ordinary.Read(git, maxPointer)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(git), to)
	}
	return filepath.Join(to, "index")
}

func gitModesAt(root, dir, index string) gitModes {
	info, err := os.Stat(index)
	if err != nil || !info.Mode().IsRegular() || info.Size() > digest.MaxIndex {
		return gitModes{}
	}
	data, err := ordinary.Read(index, digest.MaxIndex)
	if err != nil {
		return gitModes{}
	}
	modes, err := digest.GitModes(data)
	if err != nil {
		return gitModes{}
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil || rel == "." {
		return gitModes{modes: modes}
	}
	return gitModes{filepath.ToSlash(rel) + "/", modes}
}

// modes answers for the files of one bundle; nil where the file system answers itself.
func (b *builder) modes(bundle string) func(string) (string, bool) {
	if b.o.FS != nil || !b.o.Read.NoExecBit && runtime.GOOS != "windows" {
		return nil
	}
	b.gitOnce.Do(func() { b.git = readGitModes(b.o.Dir) })
	prefix := path.Join(b.git.prefix, bundle)
	return func(p string) (string, bool) {
		mode, ok := b.git.modes[norm.NFC.String(path.Join(prefix, p))]
		return mode, ok
	}
}
