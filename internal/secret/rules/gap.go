package rules

import (
	"bytes"
	"regexp"
	"strings"
)

// gap is what gitleaks' rules have between a command and an option of it that carries a secret: anything, on a few lines. With
// it an expression finds one secret, the last or the first behind a command, and leaves another on the same line in the clear. So
// it is cut there: the option is what is looked for, and the command must stand before it, no further than is looked back.
var gap = regexp.MustCompile(`\(\?:\.\*\??\|\.\*\??\(\?:\[\\r\\n\]\{1,2\}\.\*\??\)\{1,5\}\)\[ \\t\\n\\r\]`)

// A word of a command ends with white space, for gitleaks; for a shell with more, and for who quotes the command with a quote.
const (
	wordEnd  = `(?:\s|\z)`
	shellEnd = `(?:[\s;|&()<>"'` + "`" + `\\]|\z)`
)

// cutGap gives what an expression has behind a gap, and keeps what it has before it.
func (r *rule) cutGap(text string) string {
	at := gap.FindStringIndex(text)
	if at == nil {
		return text
	}
	r.command = lazily(text[:at[0]])
	option := text[at[1]:]
	if word, ok := strings.CutSuffix(option, wordEnd); ok {
		option = word + shellEnd
	}
	return option
}

// commandBefore is where the command stands that an option at a place belongs to, or -1: on the same line, or on one before
// that a backslash continues.
func (r *rule) commandBefore(text []byte, at int) int {
	if !bytes.ContainsRune([]byte(" \t\r\n"), rune(text[at-1])) {
		return -1
	}
	lo := max(at-Before-1, 0)
	for end := at; ; {
		n := bytes.LastIndexAny(text[lo:end], "\n\x00")
		if n < 0 {
			break
		}
		end = lo + n
		if text[end] == 0 || !bytes.HasSuffix(bytes.TrimSuffix(text[lo:end], []byte("\r")), []byte(`\`)) {
			lo = end
			break
		}
	}
	loc := r.command().FindIndex(text[lo:at])
	if loc == nil {
		return -1
	}
	return lo + loc[0]
}
