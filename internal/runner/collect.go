package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// collect takes what the step left in /workspace/out, also after a failure. What the caps or the rules leave behind is
// on record and no failure; a collection that did not reach its end is one, for the steps that follow would work on
// half of what they need.
func (r *run) collect(runCtx context.Context, w sandbox.World, s plan.Step, cmd *command, res *result) *Failure {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(runCtx), collectLimit)
	defer cancel()
	defer context.AfterFunc(r.SkipCollect, cancel)()
	var broken error
	seen := map[string]bool{}
	got, err := w.Collect(ctx, r.Plan.Policy.Artifacts, func(f sandbox.Found, body io.Reader) error {
		from := &origin{Reader: body}
		a, err := r.keep(s.ID, cmd.seq, f, from, seen)
		if err != nil && from.err == nil {
			broken = err
		}
		if a != nil {
			res.Artifacts = append(res.Artifacts, *a)
		}
		return err
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
		err = fmt.Errorf("the collection of artifacts ended early: %w", err)
		return &Failure{Kind: fault.Platform, Err: errors.Join(err, r.recordSkip(s.ID, "", r.text(err.Error()), 0))}
	}
	return nil
}

// recordSkip says what was left behind. The size is the VM's own word and may be no size at all.
func (r *run) recordSkip(step, name, reason string, size int64) error {
	d := ledger.Data{"name": r.text(name), "reason": r.text(reason)}
	if size >= 0 && size <= ledger.MaxInt {
		d["bytes"] = size
	}
	_, err := r.Ledger.Append(ledger.ArtifactSkipped, step, d)
	return err
}

// keep scrubs one file and stores it. Text is redacted in place; anything else that holds a known secret is kept out
// of the store. A nil Artifact was not kept, which is on record. seen are the names so far: each is taken once.
func (r *run) keep(step string, command int64, f sandbox.Found, body io.Reader, seen map[string]bool) (*Artifact, error) {
	if !validName(f.Path) || seen[f.Path] {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.recordSkip(step, f.Path, "name", f.Size))
	}
	seen[f.Path] = true
	if found, _ := r.Secrets.Find(strings.NewReader(f.Path)); len(found) > 0 {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.quarantine(step, f, found))
	}
	spool, err := r.newSpool(body)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	var source io.Reader = spool
	hits := map[string]int{}
	if spool.text {
		clean := r.redacting(spool, hits)
		defer clean.Close()
		source = clean
	} else if found, err := r.Secrets.Find(spool); err != nil || len(found) > 0 {
		return nil, errors.Join(err, r.quarantine(step, f, found))
	} else if err := spool.rewind(); err != nil {
		return nil, err
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
	if len(found) == 0 {
		return nil
	}
	r.watch("an artifact", found[0].Name)
	_, err := r.Ledger.Append(ledger.ArtifactQuarantined, step, ledger.Data{
		"name": r.text(f.Path), "bytes": f.Size, "secret": found[0].Name, "form": string(found[0].Form), "count": len(found),
	})
	return err
}

// redacting reads src with every known secret replaced. hits is whole when the reader has come to its end; who stops
// earlier closes it.
func (r *run) redacting(src io.Reader, hits map[string]int) io.ReadCloser {
	pr, pw := io.Pipe()
	go func() {
		w := r.Secrets.Writer(pw, func(h secret.Hit) { hits[h.Name]++ })
		_, err := io.Copy(w, src)
		_ = pw.CloseWithError(errors.Join(err, w.Close()))
	}()
	return pr
}
