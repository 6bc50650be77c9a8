package microvm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/joystream-ai/joy/internal/ordinary"
)

// snapshotBudget bounds what all snapshots may occupy, in bytes; those used longest ago go first. One of the default VM
// takes about 100 MB.
const snapshotBudget = 1 << 30

// Snapshot is the memory of a guest that has booted and done nothing else: a file in the cache that VMs start from.
// Its name holds the image it belongs to, the key of the machine and the digest of its bytes, so that it is whole or
// not there, and nothing beside it says what it should be.
type Snapshot struct {
	Path   string
	Image  string // the first 16 hex digits of the image's digest
	Size   int64  // bytes
	Used   time.Time
	key    string
	sha256 string // of key and bytes
}

// errUnfit is a snapshot that is not what its name says, or not this user's alone.
var errUnfit = errors.New("it is not what was saved")

// refusalAge is how long a kind of machine is booted after one of its snapshots failed.
const refusalAge = 24 * time.Hour

// snapshotName is IMAGE.KEY.SHA256.ram; refusedName is IMAGE.KEY.refused, which holds the reason.
var (
	snapshotName = regexp.MustCompile(`^([0-9a-f]{16})\.([0-9a-f]{32})\.([0-9a-f]{64})\.ram$`)
	refusedName  = regexp.MustCompile(`^([0-9a-f]{16})\.([0-9a-f]{32})\.refused$`)
)

// Snapshots lists the snapshots in a cache, the one used last first. A directory that is not there holds none.
func Snapshots(cacheDir string) ([]Snapshot, error) {
	entries, err := os.ReadDir(snapshotDir(cacheDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing snapshots: %w", err)
	}
	var found []Snapshot
	for _, e := range entries {
		m := snapshotName.FindStringSubmatch(e.Name())
		info, err := e.Info()
		if m == nil || err != nil || !info.Mode().IsRegular() {
			continue
		}
		found = append(found, Snapshot{
			Path: filepath.Join(snapshotDir(cacheDir), e.Name()), Image: m[1], Size: info.Size(), Used: info.ModTime(),
			key: m[2], sha256: m[3],
		})
	}
	slices.SortFunc(found, func(a, b Snapshot) int {
		return cmp.Or(b.Used.Compare(a.Used), cmp.Compare(a.Path, b.Path))
	})
	return found, nil
}

// Remove deletes it. A VM that starts from it at this moment keeps its open file.
func (s Snapshot) Remove() error { return os.Remove(s.Path) }

func snapshotDir(cacheDir string) string { return filepath.Join(cacheDir, "snapshots") }

// store is the snapshots of one machine's kind.
type store struct {
	dir   string
	image string // 16 hex digits
	key   string // 32 hex digits
}

func (s store) find() (found Snapshot, ok bool, err error) {
	all, err := Snapshots(filepath.Dir(s.dir))
	for _, snap := range all {
		if snap.Image == s.image && snap.key == s.key {
			return snap, true, nil
		}
	}
	return Snapshot{}, false, err
}

// refused is why a VM of this kind is not started from a snapshot: one failed although its bytes were right, so the
// next would as well. "" when none has.
func (s store) refused() string {
	f, err := ordinary.Open(s.refusal())
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || time.Since(info.ModTime()) > refusalAge {
		return ""
	}
	reason, _ := io.ReadAll(io.LimitReader(f, 1<<10))
	return cmp.Or(strings.ToValidUTF8(string(reason), "?"), "unknown")
}

func (s store) refuse(reason error) error {
	text := []rune(reason.Error())
	return os.WriteFile(s.refusal(), []byte(string(text[:min(len(text), 200)])), 0o600)
}

func (s store) refusal() string { return filepath.Join(s.dir, s.image+"."+s.key+".refused") }

// newSum is the hash of a snapshot. It begins with the key: a file that was renamed to stand for another machine is as
// wrong as one with other bytes.
func (s store) newSum() hash.Hash {
	h := sha256.New()
	io.WriteString(h, s.key+"\n") //nolint:errcheck // a hash never fails
	return h
}

// open opens a snapshot for reading, when it is what a maker leaves: this user's regular file that no other user can
// write, in a directory of which the same is true.
func (s store) open(snap Snapshot) (*os.File, error) {
	if err := ownAlone(s.dir, unix.S_IFDIR, unix.O_DIRECTORY); err != nil {
		return nil, err
	}
	fd, err := unix.Open(snap.Path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: snap.Path, Err: err}
	}
	f := os.NewFile(uintptr(fd), snap.Path)
	if err := ownedAlone(fd, unix.S_IFREG); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func ownAlone(path string, kind uint32, flags int) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW|flags, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	return ownedAlone(fd, kind)
}

func ownedAlone(fd int, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT != kind:
		return fmt.Errorf("%w: it is of the wrong kind", errUnfit)
	case int(st.Uid) != os.Geteuid():
		return fmt.Errorf("%w: it belongs to another user", errUnfit)
	case st.Mode&0o022 != 0:
		return fmt.Errorf("%w: other users can write it", errUnfit)
	}
	return nil
}

// trim removes the snapshots used longest ago until the rest fits the budget, in bytes; the newest stays whatever its
// size. Refusals that no longer count go too.
func (s store) trim(budget int64) {
	all, _ := Snapshots(filepath.Dir(s.dir))
	for i, snap := range all {
		budget -= snap.Size
		if i > 0 && budget < 0 {
			_ = snap.Remove()
		}
	}
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && refusedName.MatchString(e.Name()) && time.Since(info.ModTime()) > refusalAge {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }
