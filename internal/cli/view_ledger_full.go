package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// block prints everything an entry says, long text over several lines, and what a command printed.
func (v *ledgerView) block(e verify.Entry, style *lipgloss.Style) {
	typ := e.Type
	if style != nil {
		typ = style.Render(typ)
	}
	fmt.Fprintf(&v.b, "%d  %s  %s", e.Seq, e.Time.In(v.opts.zone).Format("2006-01-02 15:04:05.000 MST"), typ)
	if e.Step != "" {
		v.b.WriteString("  " + term.Line(e.Step))
	}
	v.b.WriteString("\n")
	v.fields("    ", e.Data)
	if v.logs != "" {
		v.bodies(e)
	}
	v.put("\n")
}

// bodies prints what was said or printed, as far as it is kept.
func (v *ledgerView) bodies(e verify.Entry) {
	switch e.Type {
	case "model.requested", "model.replied":
		v.print()
		if v.err == nil {
			v.err = v.talk(e)
		}
	case "command.finished":
		for _, stream := range []string{"stdout", "stderr"} {
			said, _ := e.Data[stream].(map[string]any)
			if n, _ := said["bytes"].(int64); n == 0 {
				continue
			}
			v.print()
			if v.err == nil {
				v.err = v.output(e, stream)
			}
		}
	}
}

// fields writes an object's members one a line, nested ones indented.
func (v *ledgerView) fields(indent string, data map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(data)) {
		label := indent + term.Line(key) + ":"
		switch value := data[key].(type) {
		case map[string]any:
			v.put(label + "\n")
			v.fields(indent+"  ", value)
		case string:
			v.put(label + " ")
			v.text(value, indent+"  ")
		default:
			v.put(label + " " + term.Line(fieldText(value)) + "\n")
		}
	}
}

// text writes a string, each of its lines but the first indented. It may have 16 MiB, and is written in parts.
func (v *ledgerView) text(value, indent string) {
	for more := true; more; {
		part := value
		if len(part) > outputChunk {
			part = part[:wholeRunes([]byte(part[:outputChunk]))]
		}
		value, more = value[len(part):], len(part) < len(value)
		v.put(strings.ReplaceAll(term.Escape(part), "\n", "\n"+indent))
	}
	v.put("\n")
}
