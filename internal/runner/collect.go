package runner

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox"
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
		a, err := r.keep(ctx, s.ID, cmd.seq, f, from, seen)
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

// keep scrubs one file and stores it. Text is redacted in place; anything else that holds a secret, itself or in what it
// contains, is kept out of the store. A nil Artifact was not kept, which is on record. seen are the names so far: each is
// taken once.
func (r *run) keep(ctx context.Context, step string, command int64, f sandbox.Found, body io.Reader, seen map[string]bool) (*Artifact, error) {
	if !validName(f.Path) || seen[f.Path] {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.recordSkip(step, f.Path, "name", f.Size))
	}
	seen[f.Path] = true
	if hits, _ := r.Secrets.Find(strings.NewReader(f.Path)); len(hits) > 0 {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, r.quarantine(step, f, findsOf(hits), "", nil))
	}
	spool, err := r.newSpool(body)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	obj, in, err := r.scrub(ctx, f.Path, spool)
	if err != nil {
		return nil, err
	}
	if in.held != "" || !spool.text && len(in.finds) > 0 {
		return nil, r.quarantine(step, f, in.finds, in.held, spool.mac)
	}
	if err := r.recordFinds(step, f.Path, in.finds, spool.mac); err != nil {
		return nil, err
	}
	d := ledger.Data{"name": f.Path, "bytes": obj.Size, "sha256": obj.Digest, "command": command}
	if len(in.unread) > 0 {
		d["unread"] = in.unread
	}
	_, err = r.Ledger.Append(ledger.ArtifactStored, step, d)
	return &Artifact{Name: f.Path, Size: obj.Size, SHA256: strings.TrimPrefix(obj.Digest, "sha256:")}, err
}

// validName takes names that a person can read and that stay below the directory they are written to.
func validName(name string) bool {
	return utf8.ValidString(name) && fs.ValidPath(name) && name != "." && !strings.ContainsFunc(name, unicode.IsControl)
}

// quarantine says that a file is kept out, and why: what it holds, or why it could not be looked into.
func (r *run) quarantine(step string, f sandbox.Found, in finds, why string, mac hash.Hash) error {
	d := ledger.Data{"name": r.text(f.Path), "bytes": f.Size}
	for i, key := range in.sorted() {
		r.watch("an artifact", key)
		if i == 0 {
			maps.Copy(d, in.data(key))
			d["form"] = string(in[key].form)
		}
	}
	if why != "" {
		d["reason"] = why
	}
	if mac != nil {
		d["hmac"] = sum(mac)
	}
	_, err := r.Ledger.Append(ledger.ArtifactQuarantined, step, d)
	return err
}
