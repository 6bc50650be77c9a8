package export

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/term"
)

// maxCell is how many bytes of a text go into a cell. A spreadsheet takes 32,767 characters, and one that gets more may
// go on in the next row, where nothing guards it.
const maxCell = 8 << 10

// formula finds where a spreadsheet could begin to compute: at a cell's start, and after a semicolon, which separates
// cells where the comma is a decimal sign. Spaces and quotes before it do not help. The full-width forms are read as
// the plain ones in some locales (https://owasp.org/www-community/attacks/CSV_Injection).
var formula = regexp.MustCompile(`(^|;)([\s\p{Z}"']*[=+\-@\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}])`)

// Cell makes text of strangers safe to open in a spreadsheet and to print on a terminal: control characters become
// visible escapes, so that a row is a line, and an apostrophe stands before what could be a formula. What is longer
// than 8 KiB is cut and ends in "…".
func Cell(s string) string {
	if len(s) > maxCell {
		cut := maxCell
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	s = term.Line(s)
	if !strings.ContainsAny(s, "=+-@\uff1d\uff0b\uff0d\uff20") {
		return s
	}
	return formula.ReplaceAllString(s, "$1'$2")
}

// stamp writes a time as a ledger does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
