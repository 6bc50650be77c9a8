package replay

import (
	"archive/tar"
	"compress/gzip"
	"encoding/hex"
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

// maxFile bounds what is unpacked of a record file, in bytes.
const maxFile = 1 << 30

// Parts are what a record file is made of.
type Parts struct {
	Ledger, Seal, Lock []byte // Seal may be empty
}

// Needs are the bodies that a replay of the run needs: its input, what its models and tools were asked and answered, and the
// files of the plan; not its artifacts, whose digests are in the ledger.
func Needs(ledger io.Reader, p *plan.Plan) ([]string, error) {
	need := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if n != "" {
				need[n] = true
			}
		}
	}
	_, err := verify.Check(ledger, verify.Options{Each: func(e verify.Entry) {
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
	for _, s := range p.Skills {
		for _, f := range s.Files {
			add("sha256:" + f.SHA256)
		}
	}
	if p.Setup != nil {
		add("sha256:" + p.Setup.Run.SHA256)
	}
	return slices.Sorted(maps.Keys(need)), err
}

// Write makes a record file: the same bytes from the same record.
func Write(w io.Writer, parts Parts, needs []string, object Objects) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	for _, f := range []struct {
		name string
		body []byte
	}{{ledgerName, parts.Ledger}, {sealName, parts.Seal}, {lockName, parts.Lock}} {
		if err := add(tw, f.name, f.body); err != nil {
			return err
		}
	}
	r := &Record{object: object}
	for _, name := range needs {
		b, err := r.read(name)
		if err == nil {
			err = add(tw, objectsDir+strings.TrimPrefix(name, "sha256:"), b)
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

// Unpack reads a record file. keep is given each body, which matches its name by then.
func Unpack(src io.Reader, keep func(name string, body []byte) error) (Parts, error) {
	var parts Parts
	zr, err := gzip.NewReader(src)
	if err != nil {
		return parts, unreadable(err)
	}
	tr := tar.NewReader(io.LimitReader(zr, maxFile))
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return parts, unreadable(err)
		}
		if h.Typeflag != tar.TypeReg || h.Size > maxBody {
			return parts, unreadable(fmt.Errorf("%.80q is no file of a record", h.Name))
		}
		b, err := io.ReadAll(tr)
		if err == nil {
			err = parts.take(h.Name, b, keep)
		}
		if err != nil {
			return parts, unreadable(err)
		}
	}
	if len(parts.Ledger) == 0 || len(parts.Lock) == 0 {
		return parts, unreadable(errors.New("it has no ledger or no lock"))
	}
	return parts, nil
}

func (p *Parts) take(name string, b []byte, keep func(string, []byte) error) error {
	switch name {
	case ledgerName:
		p.Ledger = b
	case sealName:
		p.Seal = b
	case lockName:
		p.Lock = b
	default:
		sum, ok := strings.CutPrefix(name, objectsDir)
		if _, err := hex.DecodeString(sum); !ok || err != nil || digest.Bytes(b) != "sha256:"+sum {
			return fmt.Errorf("%.80q is not what its name says", name)
		}
		return keep("sha256:"+sum, b)
	}
	return nil
}

func unreadable(err error) error {
	return fault.Wrap(fault.Input, err, "this is no record of a run").WithHint("joy ledger export RUN --format replay -o FILE makes one")
}
