// Package artifact stores bytes by their digest: what a run produced, and the bodies its ledger names.
//
// The one rule: a name is the SHA-256 of what is under it. An object appears whole or not at all, and is checked
// again whenever it is read, so that nobody can put other bytes under a name that a ledger holds.
package artifact

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Object is what the store knows about bytes: their name and how many they are.
type Object struct {
	Digest string // "sha256:" and 64 hex digits
	Size   int64  // bytes
}

// ErrDigest is in the tree of the error when stored bytes are not those of their name.
var ErrDigest = errors.New("the stored bytes do not match their digest")

const (
	tempDir = "tmp"

	// staleAfter is how long a temporary file may go without a write before Open takes it for what a crash left.
	// No writer is silent that long: a run's time limit is far below it. Were one, its rename would fail and Put
	// with it; no object can be harmed.
	staleAfter = 24 * time.Hour
)

// Store is a directory of objects: sha256/ab/abcd… for an object, tmp/ for what is being written. It is safe for
// concurrent use, also by several processes. The caller closes it.
type Store struct {
	root *os.Root
	held *os.File // the lock; nil for a store that is only read
}

// ErrInUse is in the tree of OpenAlone's error while somebody stores.
var ErrInUse = errors.New("a run goes on in this project")

// Open opens the store in dir to store in it, makes it (0700) when there is none, and removes temporary files that nobody
// has written to for a day. dir itself must not be a link. Nothing is removed from it before Close: while OpenAlone's
// Store is open, Open waits.
func Open(dir string) (*Store, error) { return open(dir, false) }

// OpenAlone opens the store in dir, as Open does, to remove from it. Nobody stores meanwhile.
func OpenAlone(dir string) (*Store, error) { return open(dir, true) }

func open(dir string, alone bool) (*Store, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fault.Wrap(fault.Platform, err, "open store")
	}
	s, err := OpenExisting(dir)
	if err != nil {
		return nil, err
	}
	if err := s.lock(alone); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Platform, err, "open store"), s.Close())
	}
	for _, name := range []string{"sha256", tempDir} {
		if err := s.mkdir(name); err != nil {
			return nil, errors.Join(fault.Wrap(fault.Platform, err, "open store"), s.Close())
		}
	}
	if err := s.sweep(time.Now().Add(-staleAfter)); err != nil {
		return nil, errors.Join(fault.Wrap(fault.Platform, err, "sweep store"), s.Close())
	}
	return s, nil
}

// OpenExisting opens the store in dir to read from it, and changes nothing.
func OpenExisting(dir string) (*Store, error) {
	named, err := os.Lstat(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open store")
	}
	if !named.IsDir() {
		return nil, fault.New(fault.Platform, "open store: not a directory; links are not followed").At(dir, 0, 0)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open store")
	}
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = errors.New("the directory was exchanged meanwhile")
	}
	if err != nil {
		return nil, errors.Join(fault.Wrap(fault.Platform, err, "open store"), root.Close())
	}
	return &Store{root: root}, nil
}

// Close releases the directory. Objects that are open stay readable.
func (s *Store) Close() error {
	if s.held == nil {
		return s.root.Close()
	}
	return errors.Join(s.held.Close(), s.root.Close())
}

// mkdir makes a directory of the store unless it is there, and refuses a link in its place.
func (s *Store) mkdir(name string) error {
	err := s.root.Mkdir(name, 0o700)
	if err == nil {
		return s.syncDir(path.Dir(name))
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := s.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", name)
	}
	return err
}

// sweep removes temporary files last written before the given time.
func (s *Store) sweep(before time.Time) error {
	entries, err := fs.ReadDir(s.root.FS(), tempDir)
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			continue
		}
		if err == nil {
			err = s.root.Remove(path.Join(tempDir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// place is where the object of a digest lies.
func place(digest string) (dir, name string, err error) {
	if !digestForm.MatchString(digest) {
		return "", "", fault.New(fault.Input, "%.80q is no digest: sha256: and 64 hex digits in lower case", digest)
	}
	hex := strings.TrimPrefix(digest, "sha256:")
	dir = path.Join("sha256", hex[:2])
	return dir, path.Join(dir, hex), nil
}
