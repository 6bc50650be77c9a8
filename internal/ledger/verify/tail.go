package verify

import (
	"errors"
	"fmt"
	"io"
)

// Tail reads the end of a ledger, whole lines in r up to its last, and reports what Check would if everything before holds:
// each line is checked by itself and against the one before it in r. first is the ledger's first entry, which nothing here
// ties to the rest; Root is zero, and Unknown is not looked for. Together with a seal of the same head it shows that the
// ledger ends as it was sealed. The error is only that of reading r.
func Tail(first Entry, r io.Reader, each func(Entry)) (Report, error) {
	c := checker{rep: Report{Run: first.Run, PlanDigest: first.Prev, Started: first.Time}, pairs: newPairs()}
	c.note(first)
	problem := ""
	err := Read(r, func(e Entry) error {
		_, own := sound(e)
		c.rep.Line = int(e.Seq)
		switch {
		case !own:
			problem = fmt.Sprintf("entry %d was edited: its hash does not match its bytes", e.Seq)
		case c.due != "" && (e.Seq != c.rep.Entries+1 || e.Prev != c.due):
			problem = fmt.Sprintf("entry %d does not follow the one before", e.Seq)
		case e.Run != first.Run:
			problem = fmt.Sprintf("entry %d is of run %.64q, and the first of %.64q", e.Seq, e.Run, first.Run)
		case c.rep.Sealed:
			problem = fmt.Sprintf("entry %d comes after run.sealed", e.Seq)
		}
		if problem != "" {
			return errors.New(problem)
		}
		c.rep.Entries, c.rep.Head, c.rep.Ended, c.due = e.Seq, e.Hash, e.Time, e.Hash
		c.rep.Finished = c.rep.Finished || e.Type == "run.finished"
		c.note(e)
		each(e)
		return nil
	})
	var bad *BadLine
	switch {
	case problem != "":
		return c.broken(c.rep.Line, problem), nil
	case errors.As(err, &bad) && bad.Torn && !c.rep.Sealed:
		c.rep.State, c.rep.Line, c.rep.Problem = Incomplete, int(c.rep.Entries)+1, "its last line is torn"
		return c.rep, nil
	case errors.As(err, &bad):
		return c.broken(0, "its last lines are no entries"), nil
	case err != nil:
		return Report{}, err
	}
	c.rep.Line = 0
	rep := c.done()
	rep.Root = Hash{}
	return rep, nil
}
