// Package term knows what a stream can show: whether it is a terminal, how wide, in colour or not, and how to print
// what strangers wrote.
//
// The one rule: it never asks a terminal anything and never changes its mode; it only looks.
package term

import (
	"io"

	"golang.org/x/term"
)

// DefaultWidth is assumed where the real width is unknown, in columns.
const DefaultWidth = 80

// Modes are the values of --color.
var Modes = []string{"auto", "always", "never"}

type descriptor interface{ Fd() uintptr }

// IsTerminal says whether stream (an io.Reader or io.Writer) is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(descriptor)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width is the number of columns of w, or DefaultWidth.
func Width(w io.Writer) int {
	if f, ok := w.(descriptor); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return DefaultWidth
}

// Color decides whether to colour w: NO_COLOR (https://no-color.org: any value but the empty one) wins over mode;
// then a mode of always or never; then FORCE_COLOR or CLICOLOR_FORCE (unless "0"); else a terminal that is not dumb.
func Color(w io.Writer, mode string, lookup func(string) (string, bool)) bool {
	set := func(key string) bool { v, _ := lookup(key); return v != "" }
	forced := func(key string) bool { v, _ := lookup(key); return v != "" && v != "0" }
	switch {
	case set("NO_COLOR") || mode == "never":
		return false
	case mode == "always" || forced("FORCE_COLOR") || forced("CLICOLOR_FORCE"):
		return true
	}
	if name, _ := lookup("TERM"); name == "dumb" {
		return false
	}
	return IsTerminal(w)
}
