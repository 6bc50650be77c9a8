package skill

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// MaxSkillFile is the largest SKILL.md that is read, in bytes; the largest seen in public is a tenth of it.
const MaxSkillFile = 2 << 20

// front is SKILL.md taken apart.
type front struct {
	yaml     []string // the lines between the two marks, without line ends
	line     int      // the line of SKILL.md on which yaml begins
	body     string
	bodyLine int
	early    []string // what of yaml readers see that end it at any three hyphens; nil when that is all of it
}

const mark = "---"

// split finds the front matter. It ends at the first line that is the mark and nothing else but trailing blanks,
// never at a mark inside a line.
func split(raw []byte, r *report) (front, error) {
	if err := checkEncoding(raw, r); err != nil {
		return front{}, err
	}
	text, bom := strings.CutPrefix(string(raw), "\ufeff")
	if bom {
		r.violation(RuleFrontMatter, place{1, 1}, "a byte order mark stands before the front matter: save the file without it")
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	open := skipAhead(lines)
	if open == len(lines) || !isMark(lines[open]) {
		return front{}, fail(RuleFrontMatter, r.file, place{min(open+1, len(lines)), 1},
			"begin the file with ---, name: …, description: …, ---", "SKILL.md does not begin with front matter")
	}
	if open > 0 {
		r.violation(RuleFrontMatter, place{open + 1, 1}, "blank lines or a comment stand before the front matter")
	}
	for end := open + 1; end < len(lines); end++ {
		if isMark(lines[end]) {
			return front{
				yaml: lines[open+1 : end], line: open + 2, early: earlyEnd(lines[open+1 : end]),
				body: strings.Join(lines[end+1:], "\n"), bodyLine: end + 2,
			}, nil
		}
	}
	return front{}, fail(RuleFrontMatter, r.file, place{open + 1, 1},
		"put a line --- between the front matter and the text", "the front matter is not closed")
}

// earlyEnd cuts lines at the first three hyphens wherever they stand, as the reference validator does.
func earlyEnd(lines []string) []string {
	for i, line := range lines {
		if before, _, found := strings.Cut(line, mark); found {
			return append(append([]string{}, lines[:i]...), before)
		}
	}
	return nil
}

func isMark(line string) bool { return strings.TrimRight(line, " \t") == mark }

// skipAhead is the index of the first line that is neither blank nor part of an HTML comment.
func skipAhead(lines []string) int {
	comment := false
	for i, line := range lines {
		s := strings.TrimSpace(line)
		if !comment && !strings.HasPrefix(s, "<!--") {
			if s != "" {
				return i
			}
			continue
		}
		_, after, closed := strings.Cut(s, "-->")
		comment = !closed
		if closed && strings.TrimSpace(after) != "" {
			return i
		}
	}
	return len(lines)
}

// checkEncoding refuses what is not UTF-8, with the place where it stops being so.
func checkEncoding(raw []byte, r *report) error {
	const hint = "save the file as UTF-8"
	utf16 := bytes.HasPrefix(raw, []byte{0xff, 0xfe}) || bytes.HasPrefix(raw, []byte{0xfe, 0xff}) ||
		len(raw) > 3 && (raw[0] == 0) != (raw[1] == 0) && (raw[2] == 0) != (raw[3] == 0)
	if utf16 {
		return fail(RuleFrontMatter, r.file, place{1, 1}, hint, "SKILL.md is UTF-16")
	}
	line, start := 1, 0
	for i := 0; i < len(raw); {
		c, size := utf8.DecodeRune(raw[i:])
		if c == utf8.RuneError && size == 1 {
			p := place{line, 1 + utf8.RuneCount(raw[start:i])}
			return fail(RuleFrontMatter, r.file, p, hint, "SKILL.md is not UTF-8 here (byte 0x%02x)", raw[i])
		}
		if i += size; c == '\n' {
			line, start = line+1, i
		}
	}
	return nil
}
