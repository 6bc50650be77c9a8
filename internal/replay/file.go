package replay

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
)

// Names in a record file, a gzipped tar: the ledger, its seal and its lock as in the run's directory, then the bodies it needs.
const (
	ledgerName = "ledger.jsonl"
	sealName   = "seal.note"
	lockName   = "joy.lock"
	objectsDir = "objects/"
)

// maxFile bounds the bodies and the rest of a record file together, in bytes, and maxHeaders what their names and the like take.
const (
	maxFile    = 1 << 30
	maxHeaders = 64 << 20
)

// Parts are what a record file is made of.
type Parts struct {
	Ledger, Seal, Lock []byte // Seal may be empty
}

// Needs are the bodies that a replay of the run needs: its input, what its models and tools were asked and answered, and the
// files of the plan; not its artifacts, whose digests are in the ledger. They are sorted. A ledger that does not hold, does not
// end, or does not fit its seal, when it has one, is of kind Ledger.
func Needs(parts Parts, p *plan.Plan) ([]string, error) {
	need := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if n != "" {
				need[n] = true
			}
		}
	}
	rep, err := verify.Check(bytes.NewReader(parts.Ledger), verify.Options{Each: func(e verify.Entry) {
		for _, key := range []string{"input", "request", "response", "arguments", "result"} {
			add(body(e, key))
		}
		files, _ := e.Data["files"].(map[string]any)
		for _, v := range files {
			f, _ := v.(map[string]any)
			name, _ := f["sha256"].(string)
			add(name)
		}
	}})
	if err == nil {
		err = held(rep, parts.Seal)
	}
	if err != nil {
		return nil, err
	}
	for _, s := range p.Skills {
		for _, f := range s.Files {
			add("sha256:" + f.SHA256)
		}
	}
	if p.Setup != nil {
		add("sha256:" + p.Setup.Run.SHA256)
	}
	return slices.Sorted(maps.Keys(need)), nil
}

// held says why a record cannot be relied on, or nil. A seal is not asked for: what a replay shows, it shows without one.
func held(rep verify.Report, seal []byte) error {
	if len(seal) > 0 && rep.State == verify.Complete {
		rep = verify.Judge(rep, verify.Evidence{Seal: seal}).Report
	}
	if rep.State != verify.Complete {
		return fault.New(fault.Ledger, "the record is %s: %s", rep.State, rep.Problem)
	}
	return nil
}

// Write makes a record file: the same bytes from the same record. needs are sorted. What Unpack would not take is of kind Input.
func Write(w io.Writer, parts Parts, needs []string, object Objects) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	total := int64(0)
	put := func(name string, b []byte) error {
		total += int64(len(b))
		if len(b) > maxBody || total > maxFile {
			return fault.New(fault.Input, "%s makes the record too large for a file: at most %d MiB each, %d MiB in all", name, maxBody>>20, maxFile>>20).
				WithHint("replay it where it ran: joy replay RUN")
		}
		return add(tw, name, b)
	}
	for _, f := range []struct {
		name string
		body []byte
	}{{ledgerName, parts.Ledger}, {sealName, parts.Seal}, {lockName, parts.Lock}} {
		if err := put(f.name, f.body); err != nil {
			return err
		}
	}
	r := &Record{object: object}
	for _, name := range needs {
		b, err := r.read(name)
		if err == nil {
			err = put(objectsDir+strings.TrimPrefix(name, "sha256:"), b)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

func add(tw *tar.Writer, name string, b []byte) error {
	h := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(b)), ModTime: time.Unix(0, 0).UTC(), Format: tar.FormatUSTAR}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := tw.Write(b)
	return err
}

// Unpack reads a record file. needs tells from its beginning which bodies it has to have: it has those, each of the bytes that its
// name says, and nothing else, or nothing of it is kept. keep is given each. The file is read twice.
func Unpack(src io.ReadSeeker, needs func(Parts) ([]string, error), keep func(name string, body []byte) error) (Parts, error) {
	u := &unpacking{needs: needs, keep: func(string, []byte) error { return nil }}
	if err := u.read(src); err != nil {
		return Parts{}, err
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return Parts{}, unreadable(err)
	}
	u = &unpacking{needs: needs, keep: keep}
	err := u.read(src)
	return u.parts, err
}

// unpacking is one reading of a record file.
type unpacking struct {
	parts Parts
	needs func(Parts) ([]string, error)
	keep  func(string, []byte) error
	due   []string // names of what has to come next
	total int64
}

func (u *unpacking) read(src io.Reader) error {
	zr, err := gzip.NewReader(src)
	if err != nil {
		return unreadable(err)
	}
	u.due = []string{ledgerName, sealName, lockName}
	tr := tar.NewReader(io.LimitReader(zr, maxFile+maxHeaders))
	for len(u.due) > 0 {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("it ends before %s", u.due[0])
		}
		if err != nil {
			return unreadable(err)
		}
		if err := u.take(h, tr); err != nil {
			return err
		}
	}
	h, err := tr.Next()
	if err == nil {
		err = fmt.Errorf("it has more than its ledger names: %.80q", h.Name)
	}
	if !errors.Is(err, io.EOF) {
		return unreadable(err)
	}
	return nil
}

// take reads the file that is due. Its size is that of its bytes in the archive: one with holes has records of its own.
func (u *unpacking) take(h *tar.Header, tr io.Reader) error {
	u.total += h.Size
	switch {
	case h.Typeflag != tar.TypeReg || len(h.PAXRecords) > 0 || h.Size > maxBody || u.total > maxFile:
		return unreadable(fmt.Errorf("%.80q is no file of a record", h.Name))
	case h.Name != u.due[0]:
		return unreadable(fmt.Errorf("it has %.80q where %s has to be", h.Name, u.due[0]))
	}
	b, err := io.ReadAll(tr)
	if err != nil {
		return unreadable(err)
	}
	u.due = u.due[1:]
	switch h.Name {
	case ledgerName:
		u.parts.Ledger = b
	case sealName:
		u.parts.Seal = b
	case lockName:
		u.parts.Lock = b
		needs, err := u.needs(u.parts)
		for _, name := range needs {
			u.due = append(u.due, objectsDir+strings.TrimPrefix(name, "sha256:"))
		}
		return err
	default:
		name := "sha256:" + strings.TrimPrefix(h.Name, objectsDir)
		if digest.Bytes(b) != name {
			return unreadable(fmt.Errorf("%.80q is not what its name says", h.Name))
		}
		return u.keep(name, b)
	}
	return nil
}

func unreadable(err error) error {
	return fault.Wrap(fault.Input, err, "this is no record of a run").WithHint("joy ledger export RUN --format replay -o FILE makes one")
}
