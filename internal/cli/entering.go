package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/container"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/skill"
)

// entering judges what is to go into a VM, before there is one: no credential enters it. A value that joy knows is refused
// whatever a plan accepts; what only has the shape of one is refused unless the plan accepts it.
type entering struct {
	ctx   context.Context //nolint:containedctx // of the one command
	plan  *plan.Plan
	known *secret.Set // what was told before any input was read
	warn  func(format string, args ...any)
}

// refuseKnown looks in what the plan itself brings along: files of bundles, the setup script, and constants. Shapes were
// judged when the plan was built.
func (e *entering) refuseKnown(open func(plan.File) (io.ReadCloser, error)) error {
	told := e.known.Told()
	if told.Empty() {
		return nil
	}
	look := func(place string, f plan.File) error {
		src, err := open(f)
		if err != nil {
			return err
		}
		defer src.Close()
		body, err := io.ReadAll(src)
		if err != nil {
			return err
		}
		hits, err := e.search(told, bytes.NewReader(body), int64(len(body)), place)
		if err == nil && len(hits) == 0 {
			_, hits = told.Redact([]byte(f.Path))
		}
		return errors.Join(err, holds(hits, place))
	}
	for _, s := range e.plan.Skills {
		for _, f := range s.Files {
			if err := look(path.Join(s.Path, f.Path), f); err != nil {
				return err
			}
		}
	}
	if s := e.plan.Setup; s != nil {
		if err := look(s.Run.Path, s.Run); err != nil {
			return err
		}
	}
	return e.refuseConstants(told)
}

func (e *entering) refuseConstants(told *secret.Set) error {
	_, hits := told.Redact(e.plan.Inputs)
	if err := holds(hits, "the schema of the inputs"); err != nil {
		return err
	}
	for _, s := range e.plan.Steps {
		_, hits := told.Redact(s.With)
		for _, g := range s.Tools {
			_, more := told.Redact(g.With)
			hits = append(hits, more...)
		}
		if err := holds(hits, "what joy.yaml gives the step "+s.ID); err != nil {
			return err
		}
	}
	return nil
}

// search looks through a file and what it contains. What is beyond the bounds is said, and goes in.
func (e *entering) search(set *secret.Set, f io.ReaderAt, size int64, place string) ([]secret.Hit, error) {
	hits, err := set.Find(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, err
	}
	whole := len(hits)
	_, err = container.Look(e.ctx, f, size, container.Default, func(_ string, body io.Reader) error {
		more, err := set.Find(body)
		hits = append(hits, more...)
		return err
	})
	for i := whole; i < len(hits); i++ {
		hits[i].Offset = inside
	}
	if errors.Is(err, container.ErrLimit) {
		e.warn("%s was not looked through for credentials to its end: %v", place, err)
		err = nil
	}
	return hits, err
}

// inside is the offset of what is not in a file itself but in what that contains.
const inside = -1

// holds is the refusal of a value that joy knows, or nil.
func holds(hits []secret.Hit, place string) error {
	i := slices.IndexFunc(hits, func(h secret.Hit) bool { return h.Form != secret.Rule })
	if i < 0 {
		return nil
	}
	e := fault.New(fault.Policy, "%s holds the value of secret:%s, and no credential enters a VM", place, hits[i].Name).
		WithHint("take it out; a step calls a service by a granted action, and joy adds the credential outside the VM")
	e.Code = skill.RuleSecret
	return e
}

// values judges all inputs that are no files; nobody judges those of a dry run.
func (e *entering) values(values map[string]json.RawMessage, props map[string]property) error {
	if e == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		prop := props[name]
		if prop.isFile() {
			continue
		}
		text, err := json.Marshal(map[string]json.RawMessage{name: values[name]})
		if err == nil {
			text, err = digest.CanonicalJSON(text)
		}
		if err != nil {
			return fault.Wrap(fault.Input, err, "the input %s", name)
		}
		if err := e.refuseInput(name, text, prop.Secret); err != nil {
			return err
		}
	}
	return nil
}

// refuseInput judges the value of one input, as JSON with its name.
func (e *entering) refuseInput(name string, value []byte, marked bool) error {
	return e.refuse(name, marked, func(set *secret.Set) ([]secret.Hit, error) {
		_, hits := set.Redact(value)
		return hits, nil
	}, func(secret.Hit) *fault.Error { return fault.New(fault.Input, "the input %s", name) })
}

// refuseFile judges a file that is an input.
func (e *entering) refuseFile(name, shown string, f io.ReaderAt, size int64) error {
	clean, _ := e.known.Redact([]byte(shown))
	return e.refuse(name, false, func(set *secret.Set) ([]secret.Hit, error) {
		hits, err := e.search(set, f, size, "the input "+name)
		if err == nil {
			_, named := set.Redact([]byte(path.Base(shown)))
			for _, h := range named {
				h.Offset = inside
				hits = append(hits, h)
			}
		}
		return hits, err
	}, func(h secret.Hit) *fault.Error {
		out := fault.New(fault.Input, "the input %s", name)
		if line, col := lineOf(f, h.Offset); line > 0 {
			return out.At(string(clean), line, col)
		}
		return out.At(string(clean), 0, 0)
	})
}

// refuse holds an input against what joy knows and, unless it is marked as a secret or the plan accepts it, against the rules.
func (e *entering) refuse(name string, marked bool, search func(*secret.Set) ([]secret.Hit, error), at func(secret.Hit) *fault.Error) error {
	set := e.known.Told()
	if !marked {
		set = e.known.Without(e.accepted(name)...)
	}
	hits, err := search(set)
	if err != nil {
		return err
	}
	if err := holds(hits, "the input "+name); err != nil {
		return err
	}
	if len(hits) == 0 || slices.Contains(e.accepted(name), skill.RuleSecret) {
		return nil
	}
	rule := hits[0].Name
	out := at(hits[0])
	out.Msg += " has a credential in it, by the rule " + rule
	out.Code = skill.RuleSecret
	return out.WithHint("leave it out; a secret is an input with x-joy-secret: true; or in joy.yaml: allow: [{rule: %s, file: %s/%s, reason: …}]; then joy build", rule, plan.InDir, name)
}

// accepted are the rules that the plan accepts for an input.
func (e *entering) accepted(name string) (list []string) {
	for _, a := range e.plan.Allow {
		if a.File == path.Join(plan.InDir, name) {
			list = append(list, a.Rule)
		}
	}
	return list
}

// lineOf is the line and the column, in characters, of a place in a file; 0 when the file is no text up to there.
func lineOf(f io.ReaderAt, at int64) (line, col int) {
	if at < 0 {
		return 0, 0
	}
	r := bufio.NewReader(io.NewSectionReader(f, 0, at))
	line, col = 1, 1
	for {
		c, n, err := r.ReadRune()
		switch {
		case err != nil:
			return line, col
		case c == 0 || c == utf8.RuneError && n == 1:
			return 0, 0
		case c == '\n':
			line, col = line+1, 1
		default:
			col++
		}
	}
}
