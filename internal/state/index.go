package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
)

// maxLive bounds one file of the index, in bytes.
const maxLive = 64 << 10

// Live is a run that has begun and may have left a VM: who runs it and what must be destroyed when that process is
// gone. It is written before the first VM is asked for.
type Live struct {
	Run      string    `json:"run"`
	StateDir string    `json:"state_dir"` // absolute
	Process            // the joy that runs it
	VM       []string  `json:"vm"` // provider's ids of what exists
	Started  time.Time `json:"started"`
}

// Index is the user's list of live runs and of the heads of all runs, a file each, so that joys never wait for one
// another.
type Index struct{ dir, heads string }

// OpenIndex uses the user's state directory (config.Dirs.State, absolute). Nothing is created before Put.
func OpenIndex(userState string) *Index {
	return &Index{filepath.Join(userState, "live"), filepath.Join(userState, "heads")}
}

func (x *Index) file(run string) string { return filepath.Join(x.dir, run+".json") }

// Put adds or replaces a run's file; it is durable when Put returns.
func (x *Index) Put(live Live) error {
	return put(x.dir, live.Run, live, "index of live runs")
}

// put writes v to the run's file in dir.
func put(dir, run string, v any, what string) error {
	if !ValidID(run) {
		return fault.New(fault.Input, "run id %q is not YYYYMMDD-HHMMSS-xxxxxx", run)
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fault.Wrap(fault.Platform, err, "encode the %s", what)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fault.Wrap(fault.Platform, err, "create the %s", what)
	}
	if err := checkDir(dir); err != nil {
		return err
	}
	if err := replace(filepath.Join(dir, run+".json"), append(data, '\n')); err != nil {
		return fault.Wrap(fault.Platform, err, "write the %s", what)
	}
	return nil
}

// Remove takes a run out once nothing of it can be alive. A run that is not there is no error.
func (x *Index) Remove(run string) error {
	if !ValidID(run) {
		return fault.New(fault.Input, "run id %q is not YYYYMMDD-HHMMSS-xxxxxx", run)
	}
	if err := os.Remove(x.file(run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Platform, err, "remove the run from the index")
	}
	return nil
}

// List returns the live runs by id. Files that cannot be read are joined in the error; the rest is returned with it.
func (x *Index) List() ([]Live, error) {
	entries, err := os.ReadDir(x.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "list the live runs")
	}
	if err := checkDir(x.dir); err != nil {
		return nil, err
	}
	var list []Live
	var bad []error
	for _, e := range entries {
		run, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !ValidID(run) || !e.Type().IsRegular() {
			continue
		}
		live, err := x.read(run)
		switch {
		case errors.Is(err, fs.ErrNotExist): // that run ended a moment ago
		case err != nil:
			bad = append(bad, fault.Wrap(fault.Platform, err, "read the live run").At(x.file(run), 0, 0))
		default:
			list = append(list, live)
		}
	}
	return list, errors.Join(bad...)
}

func (x *Index) read(run string) (Live, error) {
	var live Live
	data, err := ordinary.Read(x.file(run), maxLive)
	if err != nil {
		return live, err
	}
	if err := json.Unmarshal(data, &live); err != nil {
		return live, err
	}
	if live.Run != run {
		return live, errors.New("it names the run " + live.Run)
	}
	return live, nil
}

// newPrefix begins the name of a file that is being written; the pid of who writes follows.
const newPrefix = ".new-"

// Sweep removes what joys that died in the middle of a write have left.
func (x *Index) Sweep() error {
	var failed []error
	for _, dir := range []string{x.dir, x.heads} {
		names, err := filepath.Glob(filepath.Join(dir, newPrefix+"*-*"))
		failed = append(failed, err)
		for _, name := range names {
			pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), newPrefix), "-")
			if n, err := strconv.Atoi(pid); err == nil && n != os.Getpid() && !running(n) {
				failed = append(failed, os.Remove(name))
			}
		}
	}
	if err := errors.Join(failed...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Platform, err, "sweep the index of runs")
	}
	return nil
}

// replace writes data beside name and renames it there, so that a reader sees the old bytes or the new ones.
func replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), fmt.Sprintf("%s%d-*", newPrefix, os.Getpid())) // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(name))
}
