package skill

import (
	"regexp"
	"strings"
)

// lineKind is what a line of the body is to somebody who carries the skill out.
type lineKind uint8

const (
	prose   lineKind = iota
	heading          // # …
	code             // inside a fence
	quote            // > …
	comment          // inside an HTML comment
)

// line is one line of SKILL.md below the front matter.
type line struct {
	no      int // of SKILL.md
	text    string
	kind    lineKind
	lang    string // of the fence, lower case; only for code
	section string // the heading it stands under, lower case
	spans   []string
}

// document is the body as lines, so that rules ask what a line is and not how Markdown spells it.
type document struct{ lines []line }

var (
	fenceOpen = regexp.MustCompile("^[ \t>]*(```+|~~~+)[ \t]*\\{?\\.?([A-Za-z0-9_+#-]*)")
	codeSpan  = regexp.MustCompile("`([^`]+)`")
)

// readDocument takes the body apart. first is the line number of the first line of body.
func readDocument(body string, first int) document {
	var d document
	var fence, lang, section string
	inComment := false
	for i, text := range strings.Split(body, "\n") {
		l := line{no: first + i, text: text, section: section}
		trimmed := strings.TrimSpace(text)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) && strings.Trim(trimmed, fence[:1]) == "" {
				fence = ""
				continue
			}
			l.kind, l.lang = code, lang
		case inComment || strings.HasPrefix(trimmed, "<!--"):
			l.kind, inComment = comment, !strings.Contains(trimmed, "-->")
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			m := fenceOpen.FindStringSubmatch(text)
			fence, lang = m[1], strings.ToLower(m[2])
			continue
		case strings.HasPrefix(trimmed, "#"):
			section = strings.ToLower(strings.Trim(trimmed, "# "))
			l.kind, l.section = heading, section
		case strings.HasPrefix(trimmed, ">"):
			l.kind = quote
		}
		if l.kind != code && strings.Contains(text, "`") {
			for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
				l.spans = append(l.spans, strings.TrimSpace(m[1]))
			}
		}
		d.lines = append(d.lines, l)
	}
	return d
}

// instruction reports a line that tells the reader something to do or know; a comment is not rendered to anybody.
func (l line) instruction() bool { return l.kind == prose || l.kind == heading || l.kind == quote }

// setup reports a line under a heading about getting ready, which is done before the skill is used.
func (l line) setup() bool { return setupSection.MatchString(l.section) }

var setupSection = regexp.MustCompile(`\b(set ?up|install(ation|ing)?|prerequisites?|requirements?|getting started|configuration|authenticat\w+|connect(ing)?|troubleshooting)\b`)
