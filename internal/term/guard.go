package term

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Guard is the last door before a stream that people look at: whatever is written goes through Escape, so that nothing
// a caller forgot to escape reaches a terminal. Only joy's own sequences pass. It keeps nothing back: a Write holds
// whole characters and sequences.
type Guard struct {
	W   io.Writer
	Own []string // the sequences that joy itself writes here, each in full; none where it does not colour
}

// Write writes b escaped and, as it holds all of b, returns its length.
func (g *Guard) Write(b []byte) (int, error) { return g.WriteString(string(b)) }

// WriteString is Write without a copy.
func (g *Guard) WriteString(s string) (int, error) {
	if _, err := io.WriteString(g.W, escape(s, "\n\t", g.Own)); err != nil {
		return 0, err
	}
	return len(s), nil
}

// Line is the function Line for text that joy has put together, own sequences in it.
func (g *Guard) Line(s string) string { return escape(s, "", g.Own) }

// Printf writes one line and ends it; line ends in what is put together are made visible. A function that prints several
// lines escapes each value where it stands.
func (g *Guard) Printf(format string, args ...any) error {
	_, err := io.WriteString(g.W, g.Line(fmt.Sprintf(format, args...))+"\n")
	return err
}

// JSON spells what Escape would make visible in a JSON text as \u escapes (RFC 8259, section 7), which every reader takes
// for the same value: outside of strings JSON has none of it but line ends and tabs, and those stay.
func JSON(text []byte) []byte {
	var out []byte // nil while text can stay as it is
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		bad := r == utf8.RuneError && size == 1
		switch {
		case bad || hidden(r) && r != '\n' && r != '\t' && r != '\r':
			if out == nil {
				out = append(make([]byte, 0, len(text)+64), text[:i]...)
			}
			out = appendUnits(out, r)
		case out != nil:
			out = append(out, text[i:i+size]...)
		}
		i += size
	}
	if out == nil {
		return text
	}
	return out
}

// appendUnits appends r as one \u escape, or as the two of a surrogate pair.
func appendUnits(b []byte, r rune) []byte {
	if hi, lo := utf16.EncodeRune(r); hi != utf8.RuneError {
		return fmt.Appendf(b, `\u%04x\u%04x`, hi, lo)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
