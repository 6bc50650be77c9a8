package verify

import "fmt"

// diagnose says what was done to a chain that does not go on with e: where the lines around leave one explanation,
// it is named; where they leave two, both are. It may read on, so the checker is spent afterwards.
func (c *checker) diagnose(e Entry, sum Hash, own bool) string {
	due := c.rep.Entries + 1
	switch {
	case !own:
		return c.forged(e, due)
	case e.Seq > 0 && e.Seq < due && c.marks.are(e.Seq, sum):
		return fmt.Sprintf("line %d is a duplicate of line %d", e.Line, e.Seq)
	case due > 1 && e.Seq == c.last.Seq && e.Prev == c.last.Prev:
		return fmt.Sprintf("lines %d and %d both claim the same place: one of them was inserted", c.last.Line, e.Line)
	case e.Seq > due:
		return c.gap(e, due)
	case e.Seq < due:
		return fmt.Sprintf("line %d was inserted: its seq is %d where %d is due", e.Line, e.Seq, due)
	case due == 1 && c.opts.PlanDigest != "":
		return fmt.Sprintf("line 1 is of another plan: it follows %.80q, not %s", e.Prev, c.opts.PlanDigest)
	case due == 1:
		return fmt.Sprintf("line 1 was edited: its prev %.80q is no plan digest", e.Prev)
	}
	return fmt.Sprintf("line %d does not follow line %d: one of them was edited and its hash made anew", e.Line, c.last.Line)
}

// forged explains a line whose hash is wrong. When the next line takes its place in the chain, the line is an
// addition; otherwise it is an edit.
func (c *checker) forged(e Entry, due int64) string {
	next, err := c.lines.next()
	if err == nil && next.Seq == due && next.Prev == c.due && holds(next) {
		return fmt.Sprintf("line %d was inserted: line %d goes on where line %d ended", e.Line, next.Line, e.Line-1)
	}
	return fmt.Sprintf("line %d was edited: its hash does not match its bytes", e.Line)
}

// gap explains a line that comes too early: the entry due is further down, or nowhere.
func (c *checker) gap(e Entry, due int64) string {
	for {
		next, err := c.lines.next()
		if err != nil {
			break
		}
		if next.Seq != due || !holds(next) || c.due != "" && next.Prev != c.due {
			continue
		}
		if e.Seq-due == int64(next.Line-e.Line) {
			return fmt.Sprintf("lines %d and %d were swapped", e.Line, next.Line)
		}
		return fmt.Sprintf("line %d was moved: its place is line %d", next.Line, e.Line)
	}
	if e.Seq == due+1 {
		return fmt.Sprintf("a line was removed before line %d: entry %d is missing", e.Line, due)
	}
	return fmt.Sprintf("lines were removed before line %d: entries %d to %d are missing", e.Line, due, e.Seq-1)
}

// holds reports whether e's hash is that of its bytes.
func holds(e Entry) bool {
	_, ok := sound(e)
	return ok
}
