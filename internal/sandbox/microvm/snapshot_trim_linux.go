package microvm

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleWrite is the age past which a half-written note is nobody's: writing one takes no time.
const staleWrite = time.Hour

// TrimSnapshots removes the snapshots in a cache that none will start from: those that none has since unused, those of
// images that are gone, and what a killed maker left. images are the digests of those that are here. The list is of what
// was removed or, in a dry run, would be; also when there is an error. A VM that starts from one keeps its open file.
func TrimSnapshots(cacheDir string, unused time.Time, images []string, dryRun bool) (trimmed []Snapshot, err error) {
	here := map[string]bool{}
	for _, digest := range images {
		hex := strings.TrimPrefix(digest, "sha256:")
		here[hex[:min(len(hex), 16)]] = true
	}
	all, err := Snapshots(cacheDir)
	if err != nil {
		return nil, err
	}
	abandoned, unlock := store{dir: snapshotDir(cacheDir)}.abandoned()
	defer unlock()
	all = append(all, abandoned...)
	var errs []error
	for _, snap := range all {
		if here[snap.Image] && snap.Used.After(unused) {
			continue
		}
		if !dryRun {
			if err := snap.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
				continue
			}
		}
		trimmed = append(trimmed, snap)
	}
	return trimmed, errors.Join(errs...)
}

// abandoned are files that were begun and never finished; until unlock is called nobody begins to make a snapshot. A maker
// at work has the lock, so what it has so far is not found.
func (s store) abandoned() (found []Snapshot, unlock func()) {
	entries, _ := os.ReadDir(s.dir)
	unlock = func() {}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		switch {
		case e.Name() == partName:
			locked, err := s.lock()
			if err != nil || locked == nil {
				continue
			}
			unlock = locked
		case !strings.HasPrefix(e.Name(), ".") || time.Since(info.ModTime()) < staleWrite:
			continue
		}
		found = append(found, Snapshot{Path: filepath.Join(s.dir, e.Name()), Size: info.Size(), Used: info.ModTime()})
	}
	return found, unlock
}
