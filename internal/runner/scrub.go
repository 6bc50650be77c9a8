package runner

import (
	"context"
	"errors"
	"io"
	"path"
	"slices"
	"time"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/container"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// scrubLimit bounds how long one file is looked at. Text that was made to be slow reaches it; a document does not.
const scrubLimit = time.Minute

// errSlow ends a look that takes longer.
var errSlow = errors.New("looking at the file took longer than a minute")

// inspected is what a file was found to be.
type inspected struct {
	finds  finds
	held   string   // why it is kept out although nothing was found
	unread []string // what of it was not looked into
	begins sniffer  // of what is stored
}

// sniffer keeps the beginning of what is written: as much as http.DetectContentType looks at.
type sniffer []byte

func (s *sniffer) Write(b []byte) (int, error) {
	const most = 512
	*s = append(*s, b[:min(len(b), most-len(*s))]...)
	return len(b), nil
}

// scrub looks at a file and stores what may be stored: text with what was found replaced, anything else only when
// nothing was found.
func (r *run) scrub(ctx context.Context, name string, s *spool) (artifact.Object, inspected, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, scrubLimit, errSlow)
	defer cancel()
	in := inspected{finds: finds{}}
	set, accepted := r.scrubberOf(name)
	body := &timed{ctx, s}
	var obj artifact.Object
	var err error
	if s.text {
		clean := redacting(set, body, in.finds)
		defer clean.Close()
		obj, err = r.Objects.Put(io.TeeReader(clean, &in.begins))
	} else if err = in.look(ctx, set, s); err == nil && len(in.finds) == 0 {
		if err = s.rewind(); err == nil {
			obj, err = r.Objects.Put(io.TeeReader(s, &in.begins))
		}
	}
	switch {
	case errors.Is(err, errSlow):
		in.held, err = errSlow.Error(), nil
	case errors.Is(err, container.ErrLimit) && accepted && len(in.finds) == 0:
		in.unread = append(in.unread, err.Error())
		if err = s.rewind(); err == nil {
			obj, err = r.Objects.Put(io.TeeReader(s, &in.begins))
		}
	case errors.Is(err, container.ErrLimit):
		in.held, err = err.Error(), nil
	}
	return obj, in, err
}

// look searches a file that is no text, and what it contains.
func (in *inspected) look(ctx context.Context, set *secret.Set, s *spool) error {
	search := func(_ string, body io.Reader) error {
		w := set.Writer(io.Discard, in.finds.add)
		_, err := io.Copy(w, &timed{ctx, body})
		return errors.Join(err, w.Close())
	}
	if err := search("", s); err != nil {
		return err
	}
	rep, err := container.Look(ctx, s.File, s.size, container.Default, search)
	in.unread = rep.Unread
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	return err
}

// scrubberOf is what an artifact is searched with: less the rules that the plan accepts for it. Of what joy was told, no
// plan accepts anything. accepted says that one too large to look into is.
func (r *run) scrubberOf(name string) (set *secret.Set, accepted bool) {
	var rules []string
	for _, a := range r.Plan.Allow {
		if a.File == path.Join(plan.OutDir, name) {
			rules = append(rules, a.Rule)
		}
	}
	return r.Secrets.Without(rules...), slices.Contains(rules, plan.RuleUnread)
}

// redacting reads src with every secret replaced. f is whole when the reader has come to its end; who stops earlier
// closes it.
func redacting(set *secret.Set, src io.Reader, f finds) io.ReadCloser {
	pr, pw := io.Pipe()
	go func() {
		w := set.Writer(pw, f.add)
		_, err := io.Copy(w, src)
		_ = pw.CloseWithError(errors.Join(err, w.Close()))
	}()
	return pr
}

// timed reads until its context ends, whose cause is then its error.
type timed struct {
	ctx context.Context //nolint:containedctx // of one copy
	io.Reader
}

func (b *timed) Read(p []byte) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	return b.Reader.Read(p[:min(len(p), 32<<10)])
}
