package runner

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"slices"
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

// collect takes what the step left in /workspace/out, also after a failure. What the caps, the rules or the time leave
// behind is on record and no failure: a step's result is what its command did. When the collection did not reach its end
// the outcome is Partial, and who needs the step's files finds out; see [run.whole]. Only what breaks the run itself is a
// failure here: a lost VM, a store or ledger that cannot be written.
func (r *run) collect(runCtx context.Context, w sandbox.World, s plan.Step, cmd *command, res *result) *Failure {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(runCtx), collectLimit)
	defer cancel()
	defer context.AfterFunc(r.SkipCollect, cancel)()
	c := collection{run: r, step: s.ID, command: cmd.seq, seen: map[string]bool{}, skips: r.newSkips(s.ID)}
	var broken error
	got, err := w.Collect(ctx, r.Plan.Policy.Artifacts, func(f sandbox.Found, body io.Reader) error {
		from := &origin{Reader: body}
		a, err := c.keep(ctx, f, from)
		if err != nil && from.err == nil && ctx.Err() == nil {
			broken = err
		}
		if a != nil {
			res.Artifacts = append(res.Artifacts, *a)
		}
		return err
	})
	for _, skip := range got.Skipped {
		if skip.Count > 0 {
			c.skips.count(skip.Reason, skip.Count)
		} else {
			broken = errors.Join(broken, c.skips.add(skip.Path, skip.Reason, skip.Size))
		}
	}
	if err != nil && broken == nil && !errors.Is(err, sandbox.ErrLost) {
		res.Partial = r.scribe.Text(early(ctx, err))
		broken = c.skips.add("", res.Partial, -1)
	}
	broken = errors.Join(broken, c.skips.end())
	res.LeftOut, res.withheld = c.skips.total+int64(len(c.withheld)), c.withheld
	switch {
	case broken != nil:
		return &Failure{Kind: fault.Platform, Err: fmt.Errorf("keeping artifacts: %w", broken)}
	case errors.Is(err, sandbox.ErrLost):
		return &Failure{Kind: fault.Platform, Err: err}
	}
	return nil
}

// early says why a collection ended before its end.
func early(ctx context.Context, err error) string {
	why := err.Error()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = fmt.Sprintf("it took longer than %s", collectLimit)
	}
	return "the collection ended early: " + why
}

// whole refuses what is not all that a step left. A step that is given the files of another would work on some of them
// and could not know.
func whole(up map[string]*result) error {
	for _, id := range slices.Sorted(maps.Keys(up)) {
		if why := up[id].Partial; why != "" {
			return fmt.Errorf("not all files of %s are here: %s", id, why)
		}
	}
	return nil
}

// collection is that of one step.
type collection struct {
	*run
	step    string
	command int64           // seq of the command that left the files
	seen    map[string]bool // names so far: each is taken once
	skips   *skips

	withheld []string
}

// keep scrubs one file and stores it. Text is redacted in place; anything else that holds a secret, itself or in what it
// contains, is kept out of the store. A nil Artifact was not kept, which is on record.
func (c *collection) keep(ctx context.Context, f sandbox.Found, body io.Reader) (*Artifact, error) {
	if !validName(f.Path) || c.seen[f.Path] {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, c.skips.add(f.Path, "name", f.Size))
	}
	c.seen[f.Path] = true
	if hits, _ := c.Secrets.Find(strings.NewReader(f.Path)); len(hits) > 0 {
		_, err := io.Copy(io.Discard, body)
		return nil, errors.Join(err, c.quarantine(f, findsOf(hits), "", nil))
	}
	spool, err := c.newSpool(body)
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	obj, in, err := c.scrub(ctx, f.Path, spool)
	if err != nil {
		return nil, err
	}
	if in.held != "" || !spool.text && len(in.finds) > 0 {
		return nil, c.quarantine(f, in.finds, in.held, spool.mac)
	}
	if err := c.recordFinds(c.step, f.Path, in.finds, spool.mac); err != nil {
		return nil, err
	}
	d := ledger.Data{
		"name": f.Path, "bytes": obj.Size, "sha256": obj.Digest, "media": http.DetectContentType(in.begins), "command": c.command,
	}
	if len(in.unread) > 0 {
		d["unread"] = in.unread
	}
	_, err = c.Ledger.Append(ledger.ArtifactStored, c.step, d)
	return &Artifact{Name: f.Path, Size: obj.Size, SHA256: strings.TrimPrefix(obj.Digest, "sha256:")}, err
}

// validName takes names that a person can read and that stay below the directory they are written to.
func validName(name string) bool {
	return utf8.ValidString(name) && fs.ValidPath(name) && name != "." && !strings.ContainsFunc(name, unicode.IsControl)
}

// quarantine says that a file is kept out, and why: what it holds, or why it could not be looked into.
func (c *collection) quarantine(f sandbox.Found, in finds, why string, mac hash.Hash) error {
	c.withheld = append(c.withheld, f.Path)
	d := ledger.Data{"name": c.scribe.Text(f.Path), "bytes": f.Size}
	for i, key := range in.sorted() {
		c.watch("an artifact", key)
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
	_, err := c.Ledger.Append(ledger.ArtifactQuarantined, c.step, d)
	return err
}
