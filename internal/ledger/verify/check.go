package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// Options narrow what a ledger must be.
type Options struct {
	PlanDigest string // "sha256:…" that line 1 must follow; "" takes what line 1 names

	// Each, when not nil, is given every entry that holds, in order.
	Each func(Entry)
}

// Check reads the ledger in r to its end and reports what it is. Each line must be canonical, follow the one before
// by seq and hash, be of the same run, not earlier, and of a known type; run.started is first, and after
// run.finished come only ledger.recovered and run.sealed. The error is only that of reading r: what is wrong with
// the ledger is in the Report. It keeps 32 bytes an entry.
func Check(r io.Reader, opts Options) (Report, error) {
	c := checker{opts: opts, lines: newLines(r), due: opts.PlanDigest}
	for {
		e, err := c.lines.next()
		if errors.Is(err, io.EOF) {
			return c.done(), nil
		}
		var bad *BadLine
		if errors.As(err, &bad) {
			return c.stop(bad), nil
		}
		if err != nil {
			return Report{}, err
		}
		if problem := c.follow(e); problem != "" {
			return c.broken(e.Line, problem), nil
		}
	}
}

type checker struct {
	opts   Options
	lines  *lines
	rep    Report
	due    string // the prev that the next entry must have; "" when any plan digest will do
	last   Entry  // without Raw and Data
	hashes [][sha256.Size]byte
	open   []Open
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// follow takes e as the next entry, or says what is wrong with it.
func (c *checker) follow(e Entry) string {
	sum := sumOf(e)
	own := e.Hash == "sha256:"+hex.EncodeToString(sum[:])
	if c.due == "" && e.Seq == 1 && digestForm.MatchString(e.Prev) {
		c.due = e.Prev
	}
	if !own || e.Seq != c.rep.Entries+1 || e.Prev != c.due {
		return c.diagnose(e, sum, own)
	}
	if problem := c.misplaced(e); problem != "" {
		return problem
	}
	if c.rep.Entries == 0 {
		c.rep.Run, c.rep.PlanDigest, c.rep.Started = e.Run, e.Prev, e.Time
	}
	c.pair(e)
	c.rep.Entries, c.rep.Head, c.rep.Ended = e.Seq, e.Hash, e.Time
	c.rep.Finished = c.rep.Finished || e.Type == "run.finished"
	c.rep.Sealed = e.Type == "run.sealed"
	c.hashes = append(c.hashes, sum)
	if c.opts.Each != nil {
		c.opts.Each(e)
	}
	e.Raw, e.Data = nil, nil
	c.last, c.due = e, e.Hash
	return ""
}

// sumOf hashes the line's bytes before its last `,"hash":`.
func sumOf(e Entry) [sha256.Size]byte {
	return sha256.Sum256(e.Raw[:bytes.LastIndex(e.Raw, []byte(`,"hash":`))])
}

// misplaced says what is wrong with an entry whose place in the chain is right.
func (c *checker) misplaced(e Entry) string {
	switch {
	case !Known(e.Type):
		return fmt.Sprintf("line %d is of the unknown type %.40q", e.Line, e.Type)
	case (e.Type == "run.started") != (e.Seq == 1):
		return fmt.Sprintf("line %d is %s: run.started is the first entry and only the first", e.Line, e.Type)
	case e.Seq > 1 && e.Run != c.last.Run:
		return fmt.Sprintf("line %d is of run %.64q, the lines before of %.64q", e.Line, e.Run, c.last.Run)
	case e.Seq > 1 && e.Time.Before(c.last.Time):
		return fmt.Sprintf("line %d is earlier than the line before", e.Line)
	case c.rep.Sealed:
		return fmt.Sprintf("line %d comes after run.sealed", e.Line)
	case c.rep.Finished && e.Type != "run.sealed" && e.Type != "ledger.recovered":
		return fmt.Sprintf("line %d is %s and comes after run.finished", e.Line, e.Type)
	case e.Type == "run.sealed" && !c.rep.Finished:
		return fmt.Sprintf("line %d is run.sealed, but the run has not finished", e.Line)
	}
	return ""
}

// pair notes a start, or takes away the start that e ends: the one its "of" names, by itself or by what that one
// ended (sandbox.destroyed names sandbox.requested), else the oldest of its step.
func (c *checker) pair(e Entry) {
	of, _ := e.Int("of")
	named := of > 0
	if starts[e.Type] {
		defer func() { c.open = append(c.open, Open{Seq: e.Seq, Type: e.Type, Step: e.Step, of: of}) }()
	}
	for _, start := range ends[e.Type] {
		i := slices.IndexFunc(c.open, func(o Open) bool {
			return o.Type == start && (named && (o.Seq == of || o.of == of) || !named && o.Step == e.Step)
		})
		if i >= 0 {
			c.open = slices.Delete(c.open, i, i+1)
			return
		}
	}
}

// stop is the report when a line is no entry.
func (c *checker) stop(bad *BadLine) Report {
	if !bad.Torn || c.rep.Sealed {
		return c.broken(bad.Line, bad.Error())
	}
	rep := c.done()
	rep.State, rep.Line, rep.Problem = Incomplete, bad.Line, bad.Error()
	if !rep.Finished {
		rep.Problem += "; there is no run.finished"
	}
	return rep
}

func (c *checker) broken(line int, problem string) Report {
	c.rep.State, c.rep.Line, c.rep.Problem, c.rep.Unknown = Broken, line, problem, c.open
	return c.rep
}

// done is the report at the end of a chain that holds.
func (c *checker) done() Report {
	c.rep.Unknown = c.open
	switch {
	case c.rep.Entries == 0:
		c.rep.State, c.rep.Problem = Incomplete, "the ledger is empty"
	case !c.rep.Finished:
		c.rep.State, c.rep.Problem = Incomplete, "there is no run.finished: the run was stopped, or the end was cut off"
	default:
		c.rep.State = Complete
	}
	return c.rep
}
