package skill

import (
	"path"
	"strings"
)

func trimLine(s string) string { return strings.TrimSpace(s) }

func matchEntry(b *Bundle) []sight {
	if b.Entry == nil {
		return nil
	}
	return []sight{{b.Entry.Line, b.Entry.Path}}
}

func matchCandidates(b *Bundle) (out []sight) {
	for i, c := range b.Candidates {
		out = append(out, sight{c.Line, b.candidatePaths[i]})
	}
	return out
}

// lines collects the lines a predicate holds for, until a rule has enough.
func (b *Bundle) lines(holds func(line) bool) (out []sight) {
	for _, l := range b.doc.lines {
		if holds(l) {
			if out = append(out, sight{l.no, trimLine(l.text)}); len(out) == maxSights {
				break
			}
		}
	}
	return out
}

func matchShell(b *Bundle) []sight {
	return b.lines(func(l line) bool { return !l.setup() && shellLine(l) })
}

func matchSetup(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.setup() && shellLine(l) })
}

// shellLine reports a line of a fence that somebody would type. A fence without a language needs a prompt or a known
// command: it may be sample output.
func shellLine(l line) bool {
	text := trimLine(l.text)
	if l.kind != code || text == "" || strings.HasPrefix(text, "#") || connecting.MatchString(text) {
		return false
	}
	if shellLangs[l.lang] {
		return true
	}
	typed, prompt := strings.CutPrefix(text, "$ ")
	return l.lang == "" && (prompt || commandLine(typed))
}

func matchCode(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.kind == code && codeLangs[l.lang] && trimLine(l.text) != "" })
}

func matchConfig(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.kind == code && configLangs[l.lang] && trimLine(l.text) != "" })
}

func matchInline(b *Bundle) []sight {
	return b.lines(func(l line) bool {
		if !l.instruction() || l.setup() {
			return false
		}
		for _, s := range l.spans {
			if commandLine(s) && !connecting.MatchString(s) {
				return true
			}
		}
		return false
	})
}

// commandLine reports text that begins with a known command and goes on like one.
func commandLine(s string) bool {
	words := strings.Fields(s)
	if len(words) < 2 {
		return len(words) == 1 && strings.HasPrefix(s, "./") && path.Ext(s) != ".md"
	}
	first := words[0]
	if strings.HasPrefix(first, "./") || strings.HasSuffix(first, ".sh") {
		return true
	}
	return commands[first] && (!ambiguous[first] || strings.ContainsAny(s[len(first):], "-./|>$*"))
}

func matchFileWork(b *Bundle) []sight {
	return b.lines(func(l line) bool {
		return l.instruction() && !l.setup() && (fileWork.MatchString(l.text) || len(l.spans) > 0 && writeTo.MatchString(l.text))
	})
}

func matchRunProse(b *Bundle) []sight {
	return b.lines(func(l line) bool { return l.instruction() && !l.setup() && runProse.MatchString(l.text) })
}

func matchPurpose(b *Bundle) []sight {
	if m := purpose.FindString(b.Description); m != "" {
		return []sight{{b.descriptionLine, m}}
	}
	return nil
}

func matchTools(b *Bundle) []sight {
	for _, t := range b.AllowedTools {
		if toolWork.MatchString(t) {
			return []sight{{b.toolsLine, t}}
		}
	}
	return nil
}

// runs reports that a line runs the bundled script p: in a block, in a command between backquotes, or named with a
// verb that runs things.
func runs(l line, p string) bool {
	if l.kind == comment || !names(l.text, p) {
		return false
	}
	if l.kind == code {
		typed, prompt := strings.CutPrefix(trimLine(l.text), "$ ")
		return shellLangs[l.lang] || l.lang == "" && (prompt || commandLine(typed))
	}
	for _, s := range l.spans {
		if names(s, p) && len(strings.Fields(s)) > 1 && commandLine(s) {
			return true
		}
	}
	return runVerb.MatchString(l.text)
}

// names reports p in text as a whole path, whatever directory stands before it.
func names(text, p string) bool {
	for rest := text; ; {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		before, after := i == 0 || !wordByte(rest[i-1]), rest[i+len(p):]
		if before && (after == "" || !wordByte(after[0]) && !(after[0] == '/')) {
			return true
		}
		rest = after
	}
}

func wordByte(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
