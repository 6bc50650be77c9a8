package skill

import "strings"

func matchEntry(j *judge) []hit {
	if j.b.Entry == nil {
		return nil
	}
	return []hit{{line: j.b.Entry.Line, seen: j.b.Entry.Path}}
}

func matchCandidates(j *judge) (out []hit) {
	for i, c := range j.b.Candidates {
		out = append(out, hit{line: c.Line, seen: j.b.candidatePaths[i]})
	}
	return out
}

func matchShell(_ *judge, l *line) []hit {
	return sees(l.kind == code && !l.setup && !l.optional && len(l.commands) > 0, l)
}

func matchSetup(_ *judge, l *line) []hit {
	return sees(l.kind == code && (l.setup || l.optional) && len(l.commands) > 0 && !l.commands[0].installs(), l)
}

func matchCode(j *judge, l *line) []hit {
	return sees(!j.b.doc.passing && isCode(l), l)
}

// matchPassingCode is matchCode where code is one or two blocks in a long text.
func matchPassingCode(j *judge, l *line) []hit {
	return sees(j.b.doc.passing && isCode(l), l)
}

func isCode(l *line) bool {
	return l.kind == code && !l.optional && (codeLangs[l.lang] && strings.TrimSpace(l.text) != "" || l.lang == "" && codeLine(l.text))
}

// codeLine reports a line that can only be program code.
func codeLine(s string) bool {
	s = strings.TrimSpace(s)
	statement := strings.HasSuffix(s, ";") && strings.ContainsAny(s, ":=(") && !hasPrefix(strings.ToLower(s), sqlOpeners)
	return statement || hasPrefix(s, codeOpeners) && strings.ContainsAny(s, "({.;:")
}

func matchConfig(_ *judge, l *line) []hit {
	return sees(l.kind == code && configLangs[l.lang] && strings.TrimSpace(l.text) != "", l)
}

func matchCommand(_ *judge, l *line) []hit {
	return sees(l.kind != code && !l.setup && !l.optional && len(l.commands) > 0, l)
}

func matchFiles(j *judge, l *line) []hit {
	if l.setup || l.row() {
		return nil
	}
	ok := toldOf(j.words, fileVerbs, 8, fileNouns, ownTexts) || told(j.words, codeVerbs, 5, codeThings) ||
		told(j.words, lookVerbs, 8, codeNouns)
	return sees(ok && !hasAny(l.text, sampleMarks) && !j.pointsInside(), l)
}

func matchRun(j *judge, l *line) []hit {
	return sees(!l.setup && !l.row() && told(j.words, runVerbs, 5, runNouns) && !hasAny(l.text, sampleMarks) && !hasAny(l.low, otherTests), l)
}

func matchFormat(j *judge, l *line) []hit {
	if l.setup || l.optional || l.kind == heading || strings.Contains(l.low, " suffix") || strings.Contains(l.low, " if ") || strings.Contains(l.low, "upload") {
		return nil
	}
	if strings.IndexByte(l.low, '(') >= 0 && hasAny(l.low, inFormat) {
		return sees(true, l)
	}
	for i, w := range j.words {
		if officePrograms[w.text] && i+1 < len(j.words) && officeNouns[j.words[i+1].text] {
			return sees(true, l)
		}
		if strings.HasPrefix(w.text, ".") && officeFormats[w.text[1:]] || officeNames[w.text] {
			return sees(true, l)
		}
	}
	return nil
}

func matchTools(j *judge) []hit {
	for _, t := range j.b.AllowedTools {
		name, _, _ := strings.Cut(strings.ToLower(t), "(")
		if workTools[strings.TrimSpace(name)] {
			return []hit{{line: j.b.toolsLine, seen: t}}
		}
	}
	return nil
}

func matchNoTools(_ *judge, l *line) []hit {
	return sees(l.instruction() && hasAny(l.low, noTools), l)
}

func matchKind(j *judge) []hit {
	if j.b.SkillKind != Instruction {
		return nil
	}
	return []hit{{line: j.b.kindLine, seen: j.b.SkillKind}}
}

func hasPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// manyFunctions is from how many functions on a text is for somebody who writes code.
const manyFunctions = 4

// matchFunctions counts the functions that are named between backquotes as calls: brew(), Kettle.fill(...), tea::pour.
// Formulas of spreadsheets have names of capitals.
func matchFunctions(j *judge) []hit {
	seen := map[string]bool{}
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		for _, s := range l.spans {
			name, _, call := strings.Cut(s, "(")
			if call && strings.HasSuffix(s, ")") && strings.ToUpper(name) != name && onlyName(strings.NewReplacer(".", "", "::", "").Replace(name)) {
				seen[name] = true
			}
		}
		if len(seen) >= manyFunctions {
			return sees(true, l)
		}
	}
	return nil
}
