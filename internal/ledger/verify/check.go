package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Options narrow what a ledger must be.
type Options struct {
	PlanDigest string // "sha256:…" that line 1 must follow; "" takes what line 1 names

	// Each, when not nil, is given every entry that holds, in order.
	Each func(Entry)

	leaf func(Entry, Hash) // is given every entry that holds and its leaf
}

// Check reads the ledger in r to its end and reports what it is. Each line must be canonical, follow the one before
// by seq and hash, be of the same run, not earlier, and of a known type; run.started is first, and after
// run.finished come only ledger.recovered and run.sealed. The error is only that of reading r: what is wrong with
// the ledger is in the Report. It keeps 8 bytes an entry of the first maxMarks, and maxOpen starts that have no end yet.
func Check(r io.Reader, opts Options) (Report, error) {
	c := checker{opts: opts, lines: newLines(r, opts.Each != nil), due: opts.PlanDigest, pairs: newPairs()}
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
	opts  Options
	lines *lines
	rep   Report
	due   string // the prev that the next entry must have; "" when any plan digest will do
	last  Entry  // without Raw and Data
	marks marks
	tree  tree
	room  []byte
	pairs *pairs
}

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	runForm    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
)

// follow takes e as the next entry, or says what is wrong with it.
func (c *checker) follow(e Entry) string {
	sum, own := sound(e)
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
	c.pairs.take(e)
	leaf := leafOf(&c.room, e.Raw)
	c.tree.add(leaf)
	if c.opts.leaf != nil {
		c.opts.leaf(e, leaf)
	}
	c.rep.Entries, c.rep.Head, c.rep.Ended = e.Seq, e.Hash, e.Time
	c.rep.Finished = c.rep.Finished || e.Type == "run.finished"
	c.note(e)
	c.marks.add(sum)
	if c.opts.Each != nil {
		c.opts.Each(e)
	}
	e.Raw, e.Data = nil, nil
	c.last, c.due = e, e.Hash
	return ""
}

// note keeps what the seal is compared with.
func (c *checker) note(e Entry) {
	switch e.Type {
	case "run.started":
		c.rep.Workspace = e.String("workspace")
	case "run.sealed":
		c.rep.Sealed, c.rep.SealKey = true, e.String("key")
		c.rep.Recovered, _ = e.Data["recovered"].(bool)
	}
}

// sound hashes e's bytes before its last `,"hash":` and says whether that is the hash it claims.
func sound(e Entry) (sum Hash, ok bool) {
	sum = sha256.Sum256(e.Raw[:e.body])
	var claim [len("sha256:") + 2*len(sum)]byte
	copy(claim[:], "sha256:")
	hex.Encode(claim[len("sha256:"):], sum[:])
	return sum, e.Hash == string(claim[:])
}

// misplaced says what is wrong with an entry whose place in the chain is right.
func (c *checker) misplaced(e Entry) string {
	switch {
	case !Known(e.Type):
		return fmt.Sprintf("line %d is of the unknown type %.40q", e.Line, e.Type)
	case (e.Type == "run.started") != (e.Seq == 1):
		return fmt.Sprintf("line %d is %s: run.started is the first entry and only the first", e.Line, e.Type)
	case e.Seq == 1 && !runForm.MatchString(e.Run):
		return fmt.Sprintf("line 1 is of run %.80q, which is no run id", e.Run)
	case e.Seq > 1 && e.Run != c.last.Run:
		return fmt.Sprintf("line %d is of run %.64q, the lines before of %.64q", e.Line, e.Run, c.last.Run)
	case e.Seq > 1 && e.Time.Before(c.last.Time):
		return fmt.Sprintf("line %d is earlier than the line before", e.Line)
	case c.rep.Sealed:
		return fmt.Sprintf("line %d comes after run.sealed", e.Line)
	case c.rep.Finished && e.Type != "run.sealed" && e.Type != "ledger.recovered":
		return fmt.Sprintf("line %d is %s and comes after run.finished", e.Line, e.Type)
	case e.Type == "run.sealed" && !c.rep.Finished && e.Data["recovered"] != true:
		return fmt.Sprintf("line %d is run.sealed, but the run has not finished", e.Line)
	}
	return ""
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
	c.rep.State, c.rep.Line, c.rep.Problem = Broken, line, problem
	c.sum()
	return c.rep
}

// sum reports what is known of all entries together.
func (c *checker) sum() {
	c.rep.Unknown, c.rep.NotFollowed, c.rep.Root = c.pairs.left(), c.pairs.more, c.tree.root()
}

// done is the report at the end of a chain that holds.
func (c *checker) done() Report {
	c.sum()
	switch {
	case c.rep.Entries == 0:
		c.rep.State, c.rep.Problem = Incomplete, "the ledger is empty"
	case c.rep.Recovered && !c.rep.Finished:
		c.rep.State, c.rep.Problem = Incomplete, "there is no run.finished: joy died, and joy gc sealed what it had written"
	case c.rep.Recovered:
		c.rep.State, c.rep.Problem = Incomplete, "joy died before it sealed, and joy gc sealed what was there: nobody vouches for what was written since"
	case !c.rep.Finished:
		c.rep.State, c.rep.Problem = Incomplete, "there is no run.finished: the run was stopped, or the end was cut off"
	default:
		c.rep.State = Complete
	}
	return c.rep
}
