package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// writeArtifacts writes each of list below out. When one of the files is there already nothing is written.
func (a *app) writeArtifacts(store *artifact.Store, run string, list []chosenArtifact, out string) error {
	if err := os.MkdirAll(a.abs(out), 0o700); err != nil {
		return fault.Wrap(fault.Input, err, "make the directory")
	}
	root, err := ordinary.OpenRoot(a.abs(out))
	if err != nil {
		return fault.Wrap(fault.Input, err, "open the directory")
	}
	defer root.Close()
	for _, one := range list {
		if _, err := root.Lstat(one.Path); err == nil {
			return exists(path.Join(out, one.Path))
		}
	}
	for i, one := range list {
		list[i].Path = path.Join(out, one.Path)
		if err := writeArtifact(root, store, one.Path, one.SHA256); err != nil {
			return err
		}
		if a.json {
			continue
		}
		if err := a.out.Printf("%s", list[i].Path); err != nil {
			return err
		}
	}
	if !a.json {
		return nil
	}
	return a.printJSON(struct {
		Schema  string           `json:"schema"`
		Run     string           `json:"run"`
		Written []chosenArtifact `json:"written"`
	}{"joy.artifact-get/1", run, append([]chosenArtifact{}, list...)})
}

func exists(name string) error {
	return fault.New(fault.Input, "%s exists already", name).WithHint("name another directory with -o")
}

// writeArtifact writes one below root, and leaves nothing when it cannot be whole.
func writeArtifact(root *os.Root, store *artifact.Store, name, digest string) (err error) {
	r, err := store.Open(digest)
	if err != nil {
		return err
	}
	defer r.Close()
	dir, err := makeBelow(root, path.Dir(name))
	if err != nil {
		return fault.Wrap(fault.Input, err, "make a directory for %s", name)
	}
	defer dir.Close()
	base := path.Base(name)
	f, err := dir.OpenFile(base, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return exists(name)
	}
	if err != nil {
		return fault.Wrap(fault.Input, err, "write %s", name)
	}
	_, err = io.Copy(f, r)
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, dir.Remove(base))
	}
	return err
}

// makeBelow makes the directories of a slash path below root and opens the last. A link in the place of one is refused,
// wherever it leads: os.Root alone would follow it within root. The caller closes the result.
func makeBelow(root *os.Root, dir string) (*os.Root, error) {
	at, err := root.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "." {
			continue
		}
		next, err := stepInto(at, part)
		_ = at.Close() // only read from
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func stepInto(at *os.Root, part string) (*os.Root, error) {
	if err := at.Mkdir(part, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	named, err := at.Lstat(part)
	if err != nil {
		return nil, err
	}
	if !named.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: part, Err: errors.New("not a directory; links are not followed")}
	}
	next, err := at.OpenRoot(part)
	if err != nil {
		return nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = errors.New("the directory was exchanged meanwhile")
	}
	if err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}
