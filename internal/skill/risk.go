package skill

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of the search for risky content.
const (
	maxRiskFile  = 1 << 20 // bytes of one file
	maxRiskTotal = 16 << 20
)

// textLine is one line of any text of the bundle, as the rules of risky content see it.
type textLine struct {
	text, low string
	comment   bool // not rendered: inside an HTML comment of a Markdown file
	code      bool // in a fence of a Markdown file, or in a script
	quote     bool
	markdown  bool
}

// source is one text of the bundle.
type source struct {
	path     string // in the bundle
	markdown bool
	script   bool
	shown    bool // what stands in it is not carried out: a reference text, data
}

// risks looks through every text of the bundle.
func (b *Bundle) risks(r *report) {
	about := securityTopic(b)
	left := maxRiskTotal
	urls := urlCount{}
	for _, f := range b.Files {
		data := b.Contents[f.Path]
		b.archiveRisks(f.Path, data, r)
		if !isText(data) {
			continue
		}
		file := path.Join(b.Dir, f.Path)
		if n := min(maxRiskFile, left); len(data) > n {
			r.note(RuleUnread, file, "only the first %d bytes were looked through for risky content", n)
			data = bytes.ToValidUTF8(data[:n], nil) // a character may have been cut
		}
		left -= len(data)
		s := source{
			path: f.Path, markdown: path.Ext(f.Path) == ".md", script: isScript(f.Path, data),
			shown: f.Path != b.SkillFile && !isScript(f.Path, data),
		}
		b.textRisks(s, string(data), about, r, &urls)
		for _, found := range invisible(string(data)) {
			r.add(SeverityWarning, RuleInvisible, file, place{found.line, found.col}, found.says)
		}
	}
	urls.report(b, r)
	b.outside(r)
}

// isText reports what a reader, human or model, could take for text.
func isText(data []byte) bool {
	return bytes.IndexByte(data[:min(len(data), 8192)], 0) < 0 && utf8.Valid(data)
}

// sight is where a rule of risky content spoke first in a file, and how often.
type sight struct {
	line, count int
	severity    string
}

// add counts a line, and keeps the first of the gravest.
func (s *sight) add(line int, severity string) {
	if s.count++; s.count == 1 || graver(severity, s.severity) {
		s.line, s.severity = line, severity
	}
}

// textRisks asks every rule about every line of one text, and reports each rule once.
func (b *Bundle) textRisks(s source, text string, security bool, r *report, urls *urlCount) {
	low := strings.ToLower(text)
	var asking []int // the rules whose words are there
	there := riskWords.in(low)
	for i := range riskRules {
		if there&(1<<i) != 0 {
			asking = append(asking, i)
		}
	}
	counting := (s.path == b.SkillFile || s.script) && strings.Contains(low, "://")
	if len(asking) == 0 && !counting {
		return
	}
	seen := make([]sight, len(riskRules))
	lines := riskLines(s, text, low)
	for n := range lines {
		l := &lines[n]
		if counting {
			urls.line(l.low, s.path, n+1)
		}
		for _, i := range asking {
			if !riskRules[i].match(l) {
				continue
			}
			severity := riskRules[i].severity
			if s.shown || l.quote || hasAny(l.text, sampleMarks) || security && !s.script {
				severity = lower(severity)
			}
			seen[i].add(n+1, severity)
		}
	}
	for i, at := range seen {
		if at.count == 0 {
			continue
		}
		msg := riskRules[i].says + ": " + shorten(strings.TrimSpace(lines[at.line-1].text))
		if at.count > 1 {
			msg += fmt.Sprintf(" (and %d more lines)", at.count-1)
		}
		r.add(at.severity, riskRules[i].id, path.Join(b.Dir, s.path), place{line: at.line}, msg)
	}
}

// riskLines takes a text apart; fences and comments are known only in Markdown.
func riskLines(s source, text, low string) []textLine {
	texts, lows := strings.Split(text, "\n"), strings.Split(low, "\n")
	out := make([]textLine, len(texts))
	var r docReader
	for i := range texts {
		out[i] = textLine{text: texts[i], low: lows[i], markdown: s.markdown, code: s.script}
		if !s.markdown {
			continue
		}
		l := line{text: texts[i], low: lows[i]}
		mark := !r.place(&l)
		out[i].code, out[i].comment, out[i].quote = l.kind == code || mark, l.kind == comment, l.kind == quote
	}
	return out
}

var severities = []string{SeverityNote, SeverityWarning, SeverityError}

func lower(severity string) string {
	return severities[max(0, slices.Index(severities, severity)-1)]
}

func graver(a, b string) bool { return slices.Index(severities, a) > slices.Index(severities, b) }

// securityTopic reports a skill about attacks, which quotes them. Its scripts are weighed like any other's.
func securityTopic(b *Bundle) bool {
	for _, w := range readWords(strings.ToLower(b.Name+" "+b.Description), nil) {
		for _, part := range strings.Split(w.text, "-") {
			if securityWords[part] {
				return true
			}
		}
	}
	return false
}
