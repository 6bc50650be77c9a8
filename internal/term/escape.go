package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Escape makes text of strangers safe to print: control characters, escape sequences, bidirectional overrides and
// other invisible characters become visible escapes such as \x1b or \u202e. Line ends and tabs stay.
func Escape(s string) string { return escape(s, "\n\t", nil) }

// Line is Escape for what must stay on one line: line ends and tabs are made visible too.
func Line(s string) string { return escape(s, "", nil) }

// escape leaves the characters of keep and the sequences of own as they are.
func escape(s, keep string, own []string) string {
	var b strings.Builder
	from := 0 // of what is not in b yet
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && size == 1
		switch {
		case bad:
		case r == 0x1b && prefixOf(s[i:], own) > 0:
			i += prefixOf(s[i:], own)
			continue
		case !hidden(r) || strings.ContainsRune(keep, r):
			i += size
			continue
		}
		b.WriteString(s[from:i])
		if bad {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			spell(&b, r)
		}
		i += size
		from = i
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// spell writes what r is called in a string of Go.
func spell(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

// prefixOf is the length of the sequence that s begins with, or 0.
func prefixOf(s string, own []string) int {
	for _, seq := range own {
		if seq != "" && strings.HasPrefix(s, seq) {
			return len(seq)
		}
	}
	return 0
}

// hidden says whether a terminal would act on r, or show nothing and reorder its neighbours: C0, DEL and C1 controls
// (Cc), format characters (Cf: bidirectional marks, zero-width, tags, the soft hyphen), line and paragraph separators,
// and code points that nobody assigned a look to (surrogates, private use).
func hidden(r rune) bool {
	if r < 0x7f {
		return r < 0x20
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs)
}
