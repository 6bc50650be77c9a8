package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/fault"
)

// Codes of the errors of this package.
const (
	CodeMissing = "JOY-CREDENTIAL" // a credential is missing, cannot be read, or no value
	CodeOrigin  = "JOY-ORIGIN"     // a credential was asked for by another origin than it was stored for
	CodeConfig  = "JOY-CONFIG"     // the user's list of secrets
)

// FileName is the user's list of secrets, in the directory of the user's configuration.
const FileName = "secrets.yaml"

// Entry is one secret of the user's list: where its value is and where it may go. It holds no value.
type Entry struct {
	Name    string
	Ref     Ref
	Origin  Origin
	PassEnv []string // variables that the program of cmd: or op: gets from joy's environment beside the usual ones
}

// Store is the user's list of secrets, secrets.yaml. Only the user writes it; no project can.
type Store struct {
	file       string
	Entries    []Entry  // by name
	Identities []string // absolute paths of age identities; empty: the usual ones
}

// SecretName is what joy.yaml may call a secret.
var SecretName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// OpenStore reads the list in the directory of the user's configuration. A missing list is an empty one.
func OpenStore(configDir string) (*Store, error) {
	s := &Store{file: filepath.Join(configDir, FileName)}
	data, err := readPrivate(s.file, maxPrivate)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, configError(err, "read the list of secrets").At(s.file, 0, 0)
	}
	return s, s.parse(data)
}

// Find is the entry of that name.
func (s *Store) Find(name string) (Entry, bool) {
	i := slices.IndexFunc(s.Entries, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return s.Entries[i], true
}

// Put adds or replaces an entry and writes the list.
func (s *Store) Put(e Entry) error {
	s.Entries = slices.DeleteFunc(s.Entries, func(old Entry) bool { return old.Name == e.Name })
	s.Entries = append(s.Entries, e)
	return s.write()
}

// Remove takes an entry out and writes the list. What it referred to is left as it is.
func (s *Store) Remove(name string) error {
	s.Entries = slices.DeleteFunc(s.Entries, func(e Entry) bool { return e.Name == name })
	return s.write()
}

// listed is an entry as the file spells it.
type listed struct {
	Ref     string   `yaml:"ref"`
	For     string   `yaml:"for,omitempty"`     // scheme://host:port
	Command []string `yaml:"command,omitempty"` // or a command
	Project string   `yaml:"project,omitempty"` // of the project at this directory
	PassEnv []string `yaml:"pass_env,omitempty"`
}

type list struct {
	Version    int               `yaml:"version"`
	Identities []string          `yaml:"identities,omitempty"`
	Secrets    map[string]listed `yaml:"secrets"`
}

func (s *Store) parse(data []byte) error {
	var l list
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&l); err != nil && !errors.Is(err, io.EOF) {
		return configError(err, "read the list of secrets").At(s.file, 0, 0)
	}
	if l.Version != 1 {
		return configError(fmt.Errorf("version %d is not known to this joy", l.Version), "read the list of secrets").At(s.file, 0, 0)
	}
	for _, path := range l.Identities {
		if !filepath.IsAbs(path) {
			return configError(errors.New("the path of an identity must be absolute"), "read the list of secrets").At(s.file, 0, 0)
		}
	}
	s.Identities = l.Identities
	for name, in := range l.Secrets {
		e, err := in.entry(name)
		if err != nil {
			return configError(err, fmt.Sprintf("read the secret %.64q", name)).At(s.file, 0, 0)
		}
		s.Entries = append(s.Entries, e)
	}
	s.sort()
	return nil
}

func (in listed) entry(name string) (Entry, error) {
	if !SecretName.MatchString(name) {
		return Entry{}, errors.New("it is no name of a secret")
	}
	ref, err := ParseRef(in.Ref)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: name, Ref: ref, PassEnv: in.PassEnv}
	for _, v := range in.PassEnv {
		if !variableForm.MatchString(v) {
			return Entry{}, errors.New("pass_env holds what is no name of a variable")
		}
	}
	byURL, byCommand := in.For != "", len(in.Command) > 0 && filepath.IsAbs(in.Project)
	switch {
	case byURL == byCommand || byURL && in.Project != "":
		return Entry{}, errors.New("it needs for: URL, or else command: and project: with an absolute path")
	case byCommand:
		e.Origin = OriginOfCommand(in.Project, in.Command)
		return e, nil
	}
	e.Origin, err = OriginOfURL(in.For)
	return e, err
}

func (s *Store) write() error {
	s.sort()
	l := list{Version: 1, Identities: s.Identities, Secrets: map[string]listed{}}
	for _, e := range s.Entries {
		l.Secrets[e.Name] = listed{e.Ref.String(), e.Origin.url, e.Origin.argv, e.Origin.project, e.PassEnv}
	}
	data, err := yaml.Marshal(l)
	if err == nil {
		err = writePrivate(s.file, append([]byte("# Where joy finds secrets and what each is for. Written by joy secret; it holds no values.\n"), data...))
	}
	if err != nil {
		return configError(err, "write the list of secrets").At(s.file, 0, 0)
	}
	return nil
}

func (s *Store) sort() {
	slices.SortFunc(s.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
}

func configError(err error, what string) *fault.Error {
	e := fault.Wrap(fault.Input, err, "%s", what)
	e.Code = CodeConfig
	return e
}
