package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/state"
)

// measure finds the objects that go with old, and what all of it takes on the disk. An object goes when a run that is
// removed names it and no other does. What a kept run names is found by its bytes, whether its ledger holds or not: any
// 64 hex digits may be a digest. store is nil when there is none.
func measure(store *artifact.Store, dir *state.Dir, index *state.Index, old []*oldRun) error {
	sizes := map[string]int64{}
	if store != nil {
		var err error
		if sizes, err = store.List(); err != nil {
			return err
		}
	}
	goes := map[string]*oldRun{} // with whom
	for _, o := range old {
		err := digestsOf(o.run, o.What == wholeRun, true, func(digest []byte) {
			if _, there := sizes[string(digest)]; there && goes[string(digest)] == nil {
				goes[string(digest)] = o
			}
		})
		if err != nil {
			return err
		}
	}
	runs, err := dir.Runs()
	if err != nil {
		return err
	}
	for _, run := range runs {
		lock, ledger := stays(run, index, old)
		if err := digestsOf(run, lock, ledger, func(digest []byte) { delete(goes, string(digest)) }); err != nil {
			return err
		}
	}
	for digest, o := range goes {
		o.objects = append(o.objects, digest)
		o.Objects++
		o.Bytes += sizes[digest]
	}
	for _, o := range old {
		held := o.run.Dir
		if o.What == onlyBodies {
			held = filepath.Join(held, logsDirName)
		}
		n, err := sizeOf(held)
		if err != nil {
			return err
		}
		o.Bytes += n
	}
	return nil
}

// stays says of which of a run's files the objects are needed: of its plan, of its ledger.
func stays(run state.Run, index *state.Index, old []*oldRun) (lock, ledger bool) {
	if at := slices.IndexFunc(old, func(o *oldRun) bool { return o.Run == run.ID }); at >= 0 {
		return old[at].What == onlyBodies, false
	}
	intent, _ := readMaintenance(index, run.Dir, run.ID, "").vouched()
	return true, intent == nil
}

// digestsOf calls fn with what the plan and the ledger of a run name.
func digestsOf(run state.Run, lock, ledger bool, fn func(digest []byte)) error {
	var names []string
	if lock {
		names = append(names, build.LockName)
	}
	if ledger {
		names = append(names, ledgerFile)
	}
	for _, name := range names {
		f, err := openPlain(run.Dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = errors.Join(namesIn(f, fn), f.Close())
		}
		if err != nil {
			return fault.Wrap(fault.Platform, err, "find what run %s needs", run.ID).At(filepath.Join(run.Dir, name), 0, 0)
		}
	}
	return nil
}

// maxNamed bounds what is read of a run to find what it needs, in bytes: minutes of reading, of what is no ledger any more.
const maxNamed = 4 << 30

// namesIn is digestsIn for a file that may be longer than anything joy wrote. What such a one needs nobody can tell.
func namesIn(f *os.File, fn func(digest []byte)) error {
	info, err := f.Stat()
	if err == nil && info.Size() > maxNamed {
		err = fmt.Errorf("larger than %d GiB", maxNamed>>30)
	}
	if err != nil {
		return err
	}
	return digestsIn(f, fn)
}

// digestsIn calls fn with each word of 64 lower-case hex digits in r, as a digest that is valid until fn returns.
func digestsIn(r io.Reader, fn func(digest []byte)) error {
	const hexDigits = 64
	in := bufio.NewReaderSize(r, 64<<10)
	word := make([]byte, 0, len("sha256:")+hexDigits+1)
	word = append(word, "sha256:"...)
	start := len(word)
	for {
		c, err := in.ReadByte()
		switch {
		case err == nil && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f'):
			if len(word) < cap(word) { // one more than a digest has is enough to see that it is none
				word = append(word, c)
			}
			continue
		case len(word) == start+hexDigits:
			fn(word)
		}
		word = word[:start]
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sizeOf is what the files below dir take; 0 when it is not there.
func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return total, err
}
