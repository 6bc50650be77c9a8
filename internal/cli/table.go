package cli

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/joystream-ai/joy/internal/term"
)

// cell is one field of a table: what strangers wrote is escaped when it is printed, so text is the raw value.
type cell struct {
	text  string
	style *lipgloss.Style // nil = plain
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
// terminal's edge with "…"; elsewhere nothing is cut, so that a pipe sees everything.
type table struct {
	ui   *ui
	rows [][]cell
}

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
	}
	t.rows = append(t.rows, cells)
}

// print writes the table to its stream.
func (t *table) print() error {
	var widths []int
	for _, row := range t.rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c.text))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		b.WriteString(t.line(row, widths) + "\n")
	}
	_, err := io.WriteString(t.ui, b.String())
	return err
}

func (t *table) line(row []cell, widths []int) string {
	var b strings.Builder
	for i, c := range row {
		text := c.text
		if c.style != nil {
			text = c.style.Render(text)
		}
		b.WriteString(text)
		if i < len(row)-1 {
			b.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(c.text)+2))
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if t.ui.tty {
		line = ansi.Truncate(line, t.ui.width, "…")
	}
	return line
}
