package skill

import (
	"path"
	"strings"
)

// findCandidates looks for bundled scripts that the text runs.
func (b *Bundle) findCandidates() (out []Evidence) {
	for _, f := range b.Files {
		if !isScript(f.Path, b.Contents[f.Path]) || !strings.Contains(b.Body, f.Path) {
			continue
		}
		for i := range b.doc.lines {
			l := &b.doc.lines[i]
			if runs(l, f.Path) {
				out = append(out, Evidence{
					"JOY-CANDIDATE", path.Join(b.Dir, f.Path), l.no,
					"SKILL.md runs it: " + shorten(strings.TrimSpace(l.text)),
				})
				b.candidatePaths = append(b.candidatePaths, f.Path)
				break
			}
		}
	}
	return out
}

// runs reports that a line runs the bundled script p: in a block, in a command between backquotes, or named with a
// verb that runs things.
func runs(l *line, p string) bool {
	if l.kind == comment || !names(l.text, p) {
		return false
	}
	if l.kind == code {
		return len(l.commands) > 0
	}
	for _, c := range l.commands {
		for _, w := range c.words {
			if names(w, p) {
				return true
			}
		}
	}
	for _, w := range readWords(l.low, nil) {
		if startVerbs[w.text] {
			return true
		}
	}
	return false
}

var startVerbs = set("run runs running execute invoke call launch use using via")

// names reports p in text as a whole path, whatever directory stands before it.
func names(text, p string) bool {
	for rest := text; ; {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		before, after := i == 0 || !wordByte(rest[i-1]), rest[i+len(p):]
		if before && (after == "" || !wordByte(after[0]) && after[0] != '/') {
			return true
		}
		rest = after
	}
}
