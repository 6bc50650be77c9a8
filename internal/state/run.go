package state

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Latest is the name of the newest run.
const Latest = "latest"

var idPattern = regexp.MustCompile(`^[0-9]{8}-[0-9]{6}-[a-z2-7]{6}$`)

// Run is one run's place on disk.
type Run struct {
	ID  string
	Dir string // absolute; holds ledger.jsonl and what belongs to it
}

// idDigits are the 32 digits of an id's end, in the order in which their bytes sort.
const idDigits = "234567abcdefghijklmnopqrstuvwxyz"

// NewID makes a run id: when it began in UTC, which sorts, and random bits from random, which keep apart runs that begin
// together. Of the six digits behind the second, the first two are its 1024th part: a run that begins when another has ended
// sorts behind it, however short that was. The other four are 20 random bits.
func NewID(now time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("read random bits for a run id: %w", err)
	}
	part := uint32(int64(now.Nanosecond()) << 10 / int64(time.Second)) // #nosec G115 -- below 1024
	bits := part<<20 | binary.BigEndian.Uint32(b[:])>>12
	id := now.UTC().AppendFormat(nil, "20060102-150405-")
	for shift := 25; shift >= 0; shift -= 5 {
		id = append(id, idDigits[bits>>shift&31])
	}
	return string(id), nil
}

// ValidID says whether id has the form that NewID gives.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// NewRun makes the directory of a new run. fs.ErrExist is in the tree when the id is taken: make another id.
func (d *Dir) NewRun(id string) (Run, error) {
	if !ValidID(id) {
		return Run{}, fault.New(fault.Input, "run id %q is not YYYYMMDD-HHMMSS-xxxxxx", id)
	}
	run := Run{id, filepath.Join(d.RunsDir(), id)}
	if err := os.Mkdir(run.Dir, 0o700); err != nil {
		return Run{}, fault.Wrap(fault.Platform, err, "create the run's directory")
	}
	return run, nil
}

// Run is the run of that id, whose directory must be one that joy made: no link, and nobody else's. fs.ErrNotExist is in the
// tree when it is not there.
func (d *Dir) Run(id string) (Run, error) {
	run := Run{id, filepath.Join(d.RunsDir(), id)}
	if !ValidID(id) {
		return run, fs.ErrNotExist
	}
	return run, checkDir(run.Dir)
}

// Runs lists the runs, newest first. Anything else in the directory, links among it, is passed over.
func (d *Dir) Runs() ([]Run, error) {
	entries, err := os.ReadDir(d.RunsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Wrap(fault.Platform, err, "list the runs")
	}
	var runs []Run
	for _, e := range entries {
		if e.IsDir() && ValidID(e.Name()) {
			runs = append(runs, Run{e.Name(), filepath.Join(d.RunsDir(), e.Name())})
		}
	}
	slices.Reverse(runs) // ReadDir sorts by name, and names begin with the time
	return runs, nil
}

// Resolve finds a run by "latest" (or ""), its id, or a beginning or end of its id that only one run has.
func (d *Dir) Resolve(ref string) (Run, error) {
	runs, err := d.Runs()
	if err != nil {
		return Run{}, err
	}
	if len(runs) == 0 {
		return Run{}, fault.New(fault.Input, "no run has been recorded here").At(d.path, 0, 0).
			WithHint("run \"joy run\" first, or name the place with -C or --state-dir")
	}
	if ref == "" || ref == Latest {
		return runs[0], nil
	}
	var found []Run
	for _, run := range runs {
		if run.ID == ref {
			return run, nil
		}
		if strings.HasPrefix(run.ID, ref) || strings.HasSuffix(run.ID, ref) {
			found = append(found, run)
		}
	}
	switch len(found) {
	case 0:
		return Run{}, fault.New(fault.Input, "no run %q", ref).WithHint("run \"joy ledger list\" to see the runs")
	case 1:
		return found[0], nil
	}
	return Run{}, fault.New(fault.Input, "%q is %d runs: %s and others", ref, len(found), found[0].ID).
		WithHint("write more of the run id")
}
