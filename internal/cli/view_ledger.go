package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// ledgerView prints entries for people: a table, or with --full a block for each.
type ledgerView struct {
	app  *app
	opts showOptions
	t    *table
	day  string
	err  error
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
	cells := plain(v.clock(e.Time), e.Step, strings.ReplaceAll(e.Type, ".", " "), phrase(e))
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

// clock shows the day where it changes and the time of day elsewhere.
func (v *ledgerView) clock(t time.Time) string {
	t = t.In(v.opts.zone)
	day := t.Format(time.DateOnly)
	if day == v.day {
		return strings.Repeat(" ", len(day)+1) + t.Format("15:04:05.000")
	}
	v.day = day
	return day + t.Format(" 15:04:05.000")
}

// style marks what a reviewer looks for: what was refused, lost, withheld or failed.
func (v *ledgerView) style(e verify.Entry) *lipgloss.Style {
	_, what, _ := strings.Cut(e.Type, ".")
	status := e.String("status") + e.String("outcome")
	code, exited := e.Int("exit")
	switch {
	case status == "failed" || exited && code != 0 || what == "lost":
		return &v.app.out.fail
	case slices.Contains([]string{"denied", "drifted", "quarantined", "skipped", "found", "recovered"}, what):
		return &v.app.out.warn
	}
	return nil
}

// block prints everything an entry says, long text over several lines.
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
	_, err := io.WriteString(v.app.out, b.String()+"\n")
	return err
}

// writeFields writes an object's members one a line, nested ones indented.
func writeFields(b *strings.Builder, indent string, data map[string]any) {
	for _, key := range sortedKeys(data) {
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
		for _, key := range sortedKeys(v) {
			parts = append(parts, key+"="+fieldText(v[key]))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	return ""
}
