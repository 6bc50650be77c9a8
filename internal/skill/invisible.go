package skill

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// unseen is what one text holds of one kind of invisible character.
type unseen struct {
	line, col int
	says      string
}

// Kinds of invisible characters, in the order in which they are reported.
const (
	noKind = iota
	zeroWidth
	bidiControl
	tagCharacter
	selectorRun
)

var kindSays = map[int]string{
	zeroWidth:    "zero width characters",
	bidiControl:  "characters that turn the direction of text around, so that it reads otherwise than it runs",
	tagCharacter: "tag characters, which spell text that nobody sees",
	selectorRun:  "variation selectors in a row, which can hold data that nobody sees",
}

// invisible finds characters that no font shows. Those that emoji and scripts need stay: joiners between emoji and
// between Arabic or Indic letters, tags that end a flag, one variation selector after a character, a byte order mark at
// the very beginning. See Unicode Technical Standards 51 and 39.
func invisible(text string) (out []unseen) {
	if !strings.ContainsFunc(text, func(c rune) bool { return c >= 0x2000 || c == 0xad || c == 0x180e }) {
		return nil
	}
	first, count, hidden := map[int]unseen{}, map[int]int{}, strings.Builder{}
	line, start := 1, 0
	var before rune
	flag := false // inside a flag made of tags
	for i, c := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		kind := kindOf(c, before, text[i+size:], flag, i == 0)
		if kind != noKind {
			if count[kind]++; count[kind] == 1 {
				first[kind] = unseen{line: line, col: 1 + utf8.RuneCountInString(text[start:i])}
			}
			if kind == tagCharacter && hidden.Len() < maxSeen {
				hidden.WriteByte(byte(c & 0x7f))
			}
		}
		switch {
		case c == '\n':
			line, start = line+1, i+1
		case c == 0x1f3f4: // a black flag may be followed by the tags of a region
			flag = true
		case c < 0xe0020 || c > 0xe007e:
			flag = false
		}
		before = c
	}
	for kind := zeroWidth; kind <= selectorRun; kind++ {
		if u, ok := first[kind]; ok {
			u.says = fmt.Sprintf("%d %s", count[kind], kindSays[kind])
			if kind == tagCharacter {
				u.says += fmt.Sprintf(": %q", hidden.String())
			}
			out = append(out, u)
		}
	}
	return out
}

// kindOf says what is wrong with c between before and the text after it.
func kindOf(c, before rune, after string, flag, begin bool) int {
	switch {
	case c < 0x180e:
		return noKind
	case c == 0x200d && joins(before, after):
		return noKind
	case c == 0xfeff && begin:
		return noKind
	case c == 0x200b, c == 0x200c && !needsJoiner(before), c == 0x200d, c >= 0x2060 && c <= 0x2064, c == 0xfeff, c == 0x180e:
		return zeroWidth
	case c >= 0x202a && c <= 0x202e, c >= 0x2066 && c <= 0x2069:
		return bidiControl
	case c >= 0xe0000 && c <= 0xe007f:
		if flag {
			return noKind
		}
		return tagCharacter
	case selector(c) && selector(before), c >= 0xe0100 && c <= 0xe01ef && !unicode.Is(unicode.Han, before):
		return selectorRun
	default:
		return noKind
	}
}

func selector(c rune) bool { return c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef }

// joins reports a zero width joiner in its place: between two emoji, or after a letter of a script that uses it.
func joins(before rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	emoji := func(c rune) bool {
		return unicode.Is(unicode.So, c) || unicode.Is(unicode.Sk, c) || c == 0xfe0f || c >= 0x1f000 && c <= 0x1faff
	}
	return emoji(before) && emoji(next) || needsJoiner(before)
}

// needsJoiner reports a letter of a script whose writing needs joiners and non-joiners.
func needsJoiner(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
