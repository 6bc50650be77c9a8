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

// ledgerView prints entries for people: a table, with --full a block for each, or line by line as they come.
type ledgerView struct {
	app  *app
	opts showOptions
	logs string // directory of what commands printed; "" when nobody knows
	gone string // says that bodies were removed, when and by whom; "" when they were not
	flow bool   // entries are printed as they come, so columns have widths of their own

	t     *table
	day   string
	nth   map[string]int // commands of a step so far
	last  string         // type of the last entry
	shown int
	err   error
}

// take shows an entry when it is one that was asked for.
func (v *ledgerView) take(e verify.Entry) {
	v.last = e.Type
	if e.Type == "command.started" && v.opts.full {
		if v.nth == nil {
			v.nth = map[string]int{}
		}
		v.nth[e.Step]++
	}
	if v.err != nil || !v.opts.Wants(e) {
		return
	}
	v.shown++
	switch {
	case v.app.json:
		_, v.err = v.app.out.lines([]byte(string(e.Raw) + "\n"))
	case v.flow:
		v.err = v.line(e)
	default:
		v.entry(e)
	}
}

// entry prints one, or keeps it for the table.
func (v *ledgerView) entry(e verify.Entry) {
	style := v.style(e)
	if v.opts.full {
		v.err = v.block(e, style)
		return
	}
	if v.t == nil {
		v.t = v.app.out.newTable("TIME ("+v.opts.zone.String()+")", "STEP", "EVENT", "")
	}
	if day := e.Time.In(v.opts.zone).Format(time.DateOnly); day != v.day {
		v.day = day
		v.t.row(cell{day, &v.app.out.dim})
	}
	cells := plain(e.Time.In(v.opts.zone).Format("15:04:05.000"), e.Step, strings.ReplaceAll(e.Type, ".", " "), phrase(e))
	cells[2].style = style
	v.t.row(cells...)
}

// close prints what was kept.
func (v *ledgerView) close() error {
	if v.t != nil && v.err == nil {
		v.err = v.t.print()
	}
	return v.err
}

// stepColumns is the width of the steps in a view whose entries are not known yet.
const stepColumns = 12

// line prints an entry of a run that goes on.
func (v *ledgerView) line(e verify.Entry) error {
	out := v.app.out
	what := fmt.Sprintf("%-17s", strings.ReplaceAll(e.Type, ".", " "))
	if s := v.style(e); s != nil {
		what = s.Render(what)
	}
	step := ansi.Truncate(term.Line(e.Step), stepColumns, "…")
	step += strings.Repeat(" ", stepColumns-ansi.StringWidth(step))
	clock := e.Time.In(v.opts.zone).Format("15:04:05")
	text := term.Line(phrase(e))
	if out.tty {
		text = ansi.Truncate(text, max(out.width-len(clock)-stepColumns-17-6, 20), "…")
	}
	_, err := io.WriteString(out, strings.TrimRight(out.dim.Render(clock)+"  "+step+"  "+what+"  "+text, " ")+"\n")
	return err
}

// style marks what a reviewer looks for: what was refused, lost, withheld or failed.
func (v *ledgerView) style(e verify.Entry) *lipgloss.Style {
	_, what, _ := strings.Cut(e.Type, ".")
	status := e.String("status") + e.String("outcome")
	code, exited := e.Int("exit")
	switch {
	case status == "failed" || exited && code != 0 || what == "lost" || e.Data["failed"] == true || (e.Type == "tool.returned" || e.Type == "model.replied") && e.String("error") != "":
		return &v.app.out.fail
	case slices.Contains([]string{"denied", "drifted", "quarantined", "skipped", "found", "recovered"}, what):
		return &v.app.out.warn
	}
	return nil
}

// block prints everything an entry says, long text over several lines, and what a command printed.
func (v *ledgerView) block(e verify.Entry, style *lipgloss.Style) error {
	var b strings.Builder
	typ := e.Type
	if style != nil {
		typ = style.Render(typ)
	}
	fmt.Fprintf(&b, "%d  %s  %s", e.Seq, e.Time.In(v.opts.zone).Format("2006-01-02 15:04:05.000 MST"), typ)
	if e.Step != "" {
		fmt.Fprintf(&b, "  %s", term.Line(e.Step))
	}
	b.WriteString("\n")
	writeFields(&b, "    ", e.Data)
	if _, err := io.WriteString(v.app.out, b.String()); err != nil {
		return err
	}
	if (e.Type == "model.requested" || e.Type == "model.replied") && v.logs != "" {
		if err := v.talk(e); err != nil {
			return err
		}
	}
	if e.Type == "command.finished" && v.logs != "" {
		for _, stream := range []string{"stdout", "stderr"} {
			if err := v.output(e, stream); err != nil {
				return err
			}
		}
	}
	_, err := io.WriteString(v.app.out, "\n")
	return err
}

// writeFields writes an object's members one a line, nested ones indented.
func writeFields(b *strings.Builder, indent string, data map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		label := indent + term.Line(key) + ":"
		switch value := data[key].(type) {
		case map[string]any:
			b.WriteString(label + "\n")
			writeFields(b, indent+"  ", value)
		case string:
			text := strings.ReplaceAll(term.Escape(value), "\n", "\n"+indent+"  ")
			b.WriteString(label + " " + text + "\n")
		default:
			b.WriteString(label + " " + term.Line(fieldText(value)) + "\n")
		}
	}
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
