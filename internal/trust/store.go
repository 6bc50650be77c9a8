package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/state"
)

// Variable allows, where there is nobody to ask, the subjects whose digests it holds, separated by white space or commas.
const Variable = "JOY_TRUST"

// maxAllowed bounds one file of the store, in bytes.
const maxAllowed = 4 << 20

// Allowed is what a user said yes to, for one project.
type Allowed struct {
	Project string    `json:"project"`
	Digest  string    `json:"digest"`
	At      time.Time `json:"at"`
	Subject Subject   `json:"subject"`
}

// Store is what the user has allowed: a file a project, in the user's state.
type Store struct{ dir string }

// Open uses the user's state directory (config.Dirs.State, absolute). Nothing is created before Allow.
func Open(userState string) *Store { return &Store{filepath.Join(userState, "trust")} }

// file is named by the digest of the path, which may hold anything.
func (s *Store) file(project string) string {
	return filepath.Join(s.dir, strings.TrimPrefix(digest.Bytes([]byte(project)), "sha256:")+".json")
}

// Check is nil when there is nothing to allow, or when exactly this was allowed, by the user for this project or by
// JOY_TRUST. Everything that starts, contacts or resolves something for a project calls it first. It is a *fault.Error of
// kind Consent when it was not, with what is new in it.
func (s *Store) Check(sub Subject, lookup func(key string) (string, bool)) error {
	if sub.Empty() {
		return nil
	}
	want := sub.Digest()
	said, _ := lookup(Variable)
	given := strings.FieldsFunc(said, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	if slices.Contains(given, want) {
		return nil
	}
	old, ok, err := s.Find(sub.Project)
	if err != nil {
		return err
	}
	if ok && old.Digest == want {
		return nil
	}
	what := "nobody has allowed yet what the project would do: " + strings.Join(sub.Lines(), "; ")
	if ok {
		what = "what the project would do is not what was allowed: " + strings.Join(sub.Changes(old.Subject), "; ")
	}
	e := fault.New(fault.Consent, "%s", what).WithHint("look at it and allow it: joy trust; where there is nobody to ask: %s=%s", Variable, want)
	e.Code, e.File = Code, SpecName
	return e
}

// Find is what was allowed for the project at that path.
func (s *Store) Find(project string) (Allowed, bool, error) {
	path := s.file(project)
	a, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Allowed{}, false, nil
	case err == nil && a.Project != project:
		err = errors.New("it is of another project")
	}
	if err != nil {
		return Allowed{}, false, broken(path, err)
	}
	return a, true, nil
}

// Allow keeps that the user said yes to the subject.
func (s *Store) Allow(sub Subject, at time.Time) error {
	if err := state.PrivateDir(s.dir); err != nil {
		return err
	}
	data, err := json.Marshal(Allowed{sub.Project, sub.Digest(), at.UTC().Truncate(time.Second), sub})
	if err == nil {
		err = replace(s.file(sub.Project), append(data, '\n'))
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "keep what was allowed")
	}
	return nil
}

// Revoke takes back what was allowed for a project, and reports whether there was anything.
func (s *Store) Revoke(project string) (bool, error) {
	err := os.Remove(s.file(project))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault.Wrap(fault.Platform, err, "take back what was allowed")
	}
	return true, nil
}

// List is everything that was allowed, by project. Files that cannot be read are joined in the error.
func (s *Store) List() ([]Allowed, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "list what was allowed")
	}
	out := []Allowed{}
	var bad []error
	for _, name := range names {
		a, err := read(name)
		if err != nil {
			bad = append(bad, broken(name, err))
			continue
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Allowed) int { return strings.Compare(a.Project, b.Project) })
	return out, errors.Join(bad...)
}

// read takes a file only when it is what Allow writes: the digest is computed, never believed.
func read(path string) (Allowed, error) {
	var a Allowed
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return a, err
	case !info.Mode().IsRegular():
		return a, errors.New("it is not an ordinary file")
	}
	data, err := ordinary.Read(path, maxAllowed)
	if err != nil {
		return a, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&a); err != nil {
		return a, err
	}
	a.Subject.Project = a.Project
	if got := a.Subject.Digest(); got != a.Digest {
		return a, fmt.Errorf("its digest is %s and not %s", got, a.Digest)
	}
	return a, nil
}

func broken(path string, err error) error {
	e := fault.Wrap(fault.Consent, err, "what was allowed cannot be read").At(path, 0, 0).WithHint("remove the file, then: joy trust")
	e.Code = Code
	return e
}

// replace writes data beside name and renames it there.
func replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
