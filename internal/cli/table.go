package cli

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/term"
)

// cell is one field of a table: what strangers wrote is escaped when it is printed, so text is the raw value.
type cell struct {
	text  string
	style *lipgloss.Style // nil = plain
	wraps bool            // the last of a row: on a terminal it goes on in further lines, for what must not be cut off
}

// plain makes unstyled cells.
func plain(texts ...string) []cell {
	cells := make([]cell, len(texts))
	for i, text := range texts {
		cells[i].text = text
	}
	return cells
}

// table collects rows and prints them aligned, two spaces between columns. On a terminal a line ends at the
// terminal's edge with "…"; elsewhere nothing is cut, so that a pipe sees everything. A table that is long is printed in
// parts: columns only widen from one to the next.
type table struct {
	ui     *ui
	rows   [][]cell // not printed yet
	bytes  int      // of their texts
	widths []int
}

// partRows and partBytes are how much of a long table is held to find its columns.
const (
	partRows  = 500
	partBytes = 1 << 20
)

// newTable begins a table with a line of headings.
func (u *ui) newTable(headings ...string) *table {
	t := &table{ui: u}
	head := plain(headings...)
	for i := range head {
		head[i].style = &u.bold
	}
	t.rows = append(t.rows, head)
	return t
}

func (t *table) row(cells ...cell) {
	for i := range cells {
		cells[i].text = term.Line(cells[i].text)
		t.bytes += len(cells[i].text)
	}
	t.rows = append(t.rows, cells)
}

// full says whether a part is to be printed before more rows come.
func (t *table) full() bool { return len(t.rows) >= partRows || t.bytes >= partBytes }

// print writes the rows to the table's stream, and forgets them.
func (t *table) print() error {
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(t.widths) {
				t.widths = append(t.widths, 0)
			}
			if i < len(row)-1 { // nothing is beside the last
				t.widths[i] = max(t.widths[i], columns(c.text))
			}
		}
	}
	var b strings.Builder
	b.Grow(t.bytes + len(t.rows)*(len(t.widths)*4+1))
	for _, row := range t.rows {
		b.WriteString(t.line(row))
		b.WriteByte('\n')
	}
	clear(t.rows)
	t.rows, t.bytes = t.rows[:0], 0
	_, err := io.WriteString(t.ui, b.String())
	return err
}

// columns is how wide a terminal shows text in which nothing is hidden.
func columns(text string) int {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return ansi.StringWidth(text)
		}
	}
	return len(text)
}

func (t *table) line(row []cell) string {
	var b strings.Builder
	for i, c := range row {
		text := c.text
		if c.style != nil {
			text = c.style.Render(text)
		}
		b.WriteString(text)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", t.widths[i]-columns(c.text)+2))
		}
	}
	if text, ok := t.wrapped(row, b.String()); ok {
		return text
	}
	line := strings.TrimRight(b.String(), " ")
	if t.ui.tty && len(line) > t.ui.width {
		line = ansi.Truncate(line, t.ui.width, "…")
	}
	return line
}

// A cell that wraps is given at least wrapColumns, and at most wrapLines lines.
const (
	wrapColumns = 20
	wrapLines   = 6
)

// wrapped is a row that is too long for the terminal, with its last cell over several lines; ok is false for a row that fits, or
// is to be cut.
func (t *table) wrapped(row []cell, line string) (text string, ok bool) {
	last := row[len(row)-1]
	if !t.ui.tty || !last.wraps || last.style != nil || ansi.StringWidth(line) <= t.ui.width {
		return "", false
	}
	before := 0
	for i := range row[:len(row)-1] {
		before += t.widths[i] + 2
	}
	room := t.ui.width - before
	if room < wrapColumns {
		return "", false
	}
	return strings.TrimSuffix(line, last.text) + wrapped(last.text, before, room), true
}

// wrapped is text on at most wrapLines lines of room columns, each but the first behind before columns.
func wrapped(text string, before, room int) string {
	parts := strings.Split(ansi.Wrap(text, room, ""), "\n")
	if len(parts) > wrapLines {
		parts = parts[:wrapLines]
		parts[wrapLines-1] = ansi.Truncate(parts[wrapLines-1], room-1, "") + "…"
	}
	return strings.Join(parts, "\n"+strings.Repeat(" ", before))
}

// fitted is the end of a line, from column before on: on a terminal it is cut at the edge, or wraps as a table's last cell does.
func (u *ui) fitted(text string, before int, wraps bool) string {
	room := u.width - before
	switch {
	case !u.tty || ansi.StringWidth(text) <= room:
		return text
	case wraps && room >= wrapColumns:
		return wrapped(text, before, room)
	}
	return ansi.Truncate(text, max(room, wrapColumns), "…")
}
