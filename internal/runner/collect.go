package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// collectLimit bounds the collection of one step's artifacts. It is its own: a step that used all its time keeps what
// it has made.
const collectLimit = 2 * time.Minute

// collect takes what the step left in /workspace/out, also after a failure. Only a lost VM or a broken record is a
// failure here: whatever else goes wrong is on record and leaves the step as it is.
func (r *run) collect(runCtx context.Context, w sandbox.World, s plan.Step, cmd *command, res *result) *Failure {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(runCtx), collectLimit)
	defer cancel()
	defer context.AfterFunc(r.SkipCollect, cancel)()
	var broken error
	got, err := w.Collect(ctx, r.Plan.Policy.Artifacts, func(f sandbox.Found, body io.Reader) error {
		a, err := r.keep(s.ID, cmd.seq, f, body)
		if err != nil {
			broken = err
			return err
		}
		if a != nil {
			res.Artifacts = append(res.Artifacts, *a)
		}
		return nil
	})
	for _, skip := range got.Skipped {
		broken = errors.Join(broken, r.recordSkip(s.ID, skip.Path, skip.Reason, skip.Size))
	}
	switch {
	case broken != nil:
		return &Failure{Kind: fault.Platform, Err: fmt.Errorf("keeping artifacts: %w", broken)}
	case errors.Is(err, sandbox.ErrLost):
		return &Failure{Kind: fault.Platform, Err: err}
	case err != nil:
		// The collection ended early: time, an interrupt, or a world that can no longer be read.
		if rerr := r.recordSkip(s.ID, "", "collection ended: "+err.Error(), 0); rerr != nil {
			return &Failure{Kind: fault.Platform, Err: rerr}
		}
	}
	return nil
}

func (r *run) recordSkip(step, name, reason string, size int64) error {
	_, err := r.Ledger.Append(ledger.ArtifactSkipped, step, ledger.Data{"name": r.text(name), "reason": r.text(reason), "bytes": size})
	return err
}

// keep scrubs one file and stores it. Text is redacted in place; anything else that holds a known secret is kept out
// of the store. A nil Artifact was not kept, which is on record.
func (r *run) keep(step string, command int64, f sandbox.Found, body io.Reader) (*Artifact, error) {
	if !validName(f.Path) {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.recordSkip(step, f.Path, "name", f.Size))
	}
	if found, _ := r.Secrets.Find(strings.NewReader(f.Path)); len(found) > 0 {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.quarantine(step, f, found))
	}
	spool, text, err := r.spool(body)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	hits := map[string]int{}
	source := io.Reader(spool)
	if text {
		source = r.redacting(spool, hits)
	} else {
		found, err := r.Secrets.Find(spool)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, r.quarantine(step, f, found)
		}
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	obj, err := r.Objects.Put(source)
	if err != nil {
		return nil, err
	}
	if err := r.recordHits(step, f.Path, hits); err != nil {
		return nil, err
	}
	_, err = r.Ledger.Append(ledger.ArtifactStored, step, ledger.Data{
		"name": f.Path, "bytes": obj.Size, "sha256": obj.Digest, "command": command,
	})
	return &Artifact{Name: f.Path, Size: obj.Size, SHA256: strings.TrimPrefix(obj.Digest, "sha256:")}, err
}

// validName takes names that a person can read and that stay below the directory they are written to.
func validName(name string) bool {
	return utf8.ValidString(name) && fs.ValidPath(name) && name != "." && !strings.ContainsFunc(name, unicode.IsControl)
}

func (r *run) quarantine(step string, f sandbox.Found, found []secret.Hit) error {
	_, err := r.Ledger.Append(ledger.ArtifactQuarantined, step, ledger.Data{
		"name": r.text(f.Path), "bytes": f.Size, "secret": found[0].Name, "form": string(found[0].Form), "count": len(found),
	})
	return err
}

// spool writes the body to a file without a name and says whether it is text: UTF-8 without NUL.
func (r *run) spool(body io.Reader) (f *os.File, text bool, err error) {
	if f, err = os.CreateTemp(r.LogDir, ".spool-*"); err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := os.Remove(f.Name()); err != nil {
		return nil, false, err
	}
	check := &textCheck{text: true}
	if _, err := io.Copy(io.MultiWriter(f, check), body); err != nil {
		return nil, false, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return f, check.text && check.utf8.valid(), err
}

type textCheck struct {
	utf8 utf8Check
	text bool
}

func (t *textCheck) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, 0) >= 0 {
		t.text = false
	}
	t.utf8.write(b)
	return len(b), nil
}

// redacting reads src with every known secret replaced.
func (r *run) redacting(src io.Reader, hits map[string]int) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		w := r.Secrets.Writer(pw, func(h secret.Hit) { hits[h.Name]++ })
		_, err := io.Copy(w, src)
		_ = pw.CloseWithError(errors.Join(err, w.Close()))
	}()
	return pr
}
