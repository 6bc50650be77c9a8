package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// ledgerView prints entries for people: a table, with --full a block for each, or line by line as they come. What it holds
// does not grow with the ledger.
type ledgerView struct {
	app  *app
	opts showOptions
	logs string // directory of what commands printed; "" when nobody knows
	gone string // says that bodies were removed, when and by whom; "" when they were not
	flow bool   // entries are printed as they come, so columns have widths of their own

	t       *table
	b       strings.Builder // of blocks and lines, not printed yet
	printed time.Time       // the last time
	day     string
	nth     map[string]int // commands of a step so far
	passed  int
	last    string // type of the last entry
	failed  bool   // the run, as its run.finished says
	shown   int
	err     error
}

// maxCounted is how many steps' commands are counted: more than a plan has, and as many as anybody can write into a ledger.
const maxCounted = 1 << 16

// showWithin is how long a terminal is kept waiting for what was found.
const showWithin = 200 * time.Millisecond

// take shows an entry when it is one that was asked for.
func (v *ledgerView) take(e verify.Entry) {
	v.pass(e.Type, []byte(e.Step))
	v.failed = v.failed || e.Type == "run.finished" && e.String("outcome") == "failed"
	if v.opts.Wants(e) {
		v.show(e)
	}
}

// pass notes that an entry comes, shown or not.
func (v *ledgerView) pass(typ string, step []byte) {
	v.last = typ
	if v.opts.full && typ == "command.started" {
		if v.nth == nil {
			v.nth = map[string]int{}
		}
		if n, known := v.nth[string(step)]; known || len(v.nth) < maxCounted {
			v.nth[string(step)] = n + 1
		}
	}
	if v.passed++; v.passed%1024 == 0 && v.app.out.tty && time.Since(v.printed) > showWithin {
		v.print()
	}
}

// show prints an entry, or keeps it for a moment.
func (v *ledgerView) show(e verify.Entry) {
	if v.err != nil {
		return
	}
	v.shown++
	switch {
	case v.app.json:
		v.b.Write(e.Raw)
		v.put("\n")
	case v.flow:
		v.err = v.line(e)
	case v.opts.full:
		v.block(e, v.style(e))
	default:
		v.entry(e)
	}
}

// entry keeps a row of the table.
func (v *ledgerView) entry(e verify.Entry) {
	if v.t == nil {
		v.t = v.app.out.newTable("TIME ("+v.opts.zone.String()+")", "STEP", "EVENT", "")
	}
	if day := e.Time.In(v.opts.zone).Format(time.DateOnly); day != v.day {
		v.day = day
		v.t.row(cell{text: day, style: &v.app.out.dim})
	}
	cells := plain(e.Time.In(v.opts.zone).Format("15:04:05.000"), e.Step, strings.ReplaceAll(e.Type, ".", " "), phrase(e))
	cells[2].style = v.style(e)
	cells[3].wraps = cells[2].style != nil // a reason that is cut off is none
	v.t.row(cells...)
	if v.t.full() {
		v.print()
	}
}

// put keeps text that is whole in itself, and prints when there is enough of it.
func (v *ledgerView) put(text string) {
	v.b.WriteString(text)
	if v.flow || v.b.Len() > outputChunk {
		v.print()
	}
}

// print writes what was kept.
func (v *ledgerView) print() {
	if v.err == nil && v.t != nil {
		v.err = v.t.print()
	}
	if v.err == nil && v.b.Len() > 0 {
		text := v.b.String()
		v.b.Reset()
		if v.app.json {
			_, v.err = v.app.out.lines([]byte(text))
		} else {
			_, v.err = io.WriteString(v.app.out, text)
		}
	}
	v.printed = time.Now()
}

// close prints what was kept.
func (v *ledgerView) close() error {
	v.print()
	return v.err
}

// stepColumns is the width of the steps in a view whose entries are not known yet.
const stepColumns = 12

// line prints an entry of a run that goes on.
func (v *ledgerView) line(e verify.Entry) error {
	_, err := io.WriteString(v.app.out, v.watchedLine(e, e.Time.In(v.opts.zone), stepColumns, phrase(e)))
	return err
}

// typeColumns is the width of the types in such a view. A longer one moves what is behind it.
const typeColumns = 17

// watchedLine is an entry that is printed by itself: cut at the terminal's edge, unless a reviewer looks for it.
func (v *ledgerView) watchedLine(e verify.Entry, t time.Time, stepColumns int, text string) string {
	out := v.app.out
	clock := t.Format("15:04:05")
	step := ansi.Truncate(term.Line(e.Step), stepColumns, "…")
	step += strings.Repeat(" ", stepColumns-ansi.StringWidth(step))
	what := fmt.Sprintf("%-*s", typeColumns, strings.ReplaceAll(e.Type, ".", " "))
	before := len(clock) + 2 + stepColumns + 2 + len(what) + 2
	style := v.style(e)
	if style != nil {
		what = style.Render(what)
	}
	text = out.fitted(term.Line(text), before, style != nil) // a reason that is cut off is none
	return strings.TrimRight(out.dim.Render(clock)+"  "+step+"  "+what+"  "+text, " ") + "\n"
}

// style marks what a reviewer looks for: what was refused, lost, withheld or failed.
func (v *ledgerView) style(e verify.Entry) *lipgloss.Style {
	_, what, _ := strings.Cut(e.Type, ".")
	status := e.String("status") + e.String("outcome")
	code, exited := e.Int("exit")
	switch {
	case status == "failed" || exited && code != 0 || e.Type == "command.finished" && !exited || what == "lost" || e.Data["failed"] == true || (e.Type == "tool.returned" || e.Type == "model.replied") && e.String("error") != "":
		return &v.app.out.fail
	case status == "interrupted", slices.Contains([]string{"denied", "drifted", "quarantined", "skipped", "found", "recovered"}, what):
		return &v.app.out.warn
	}
	return nil
}

func fieldText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case []any:
		parts := make([]string, len(v))
		for i, x := range v {
			parts[i] = fieldText(x)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		parts := make([]string, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, key+"="+fieldText(v[key]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return ""
}
