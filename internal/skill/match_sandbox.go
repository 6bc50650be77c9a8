package skill

import (
	"path"
	"strings"
)

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

func matchCode(_ *judge, l *line) []hit {
	if l.kind != code || l.optional {
		return nil
	}
	return sees(codeLangs[l.lang] && strings.TrimSpace(l.text) != "" || l.lang == "" && codeLine(l.text), l)
}

// codeLine reports a line that can only be program code.
func codeLine(s string) bool {
	s = strings.TrimSpace(s)
	return hasPrefix(s, codeOpeners) && strings.ContainsAny(s, "({.;:")
}

func matchConfig(_ *judge, l *line) []hit {
	return sees(l.kind == code && configLangs[l.lang] && strings.TrimSpace(l.text) != "", l)
}

func matchCommand(_ *judge, l *line) []hit {
	return sees(l.kind != code && !l.setup && !l.optional && len(l.commands) > 0, l)
}

func matchFiles(j *judge, l *line) []hit {
	return sees(!l.setup && (toldOf(j.words, fileVerbs, 8, fileNouns, ownTexts) || told(j.words, codeVerbs, 5, codeThings) || told(j.words, lookVerbs, 8, codeNouns)) && !hasAny(l.text, sampleMarks) && !j.pointsInside(), l)
}

// pointsInside reports a line that names a file of the bundle itself: it sends the reader on to more text.
func (j *judge) pointsInside() bool {
	for _, w := range j.words {
		if isPath(w.text) && j.holds(w.text) {
			return true
		}
	}
	return false
}

func matchRun(j *judge, l *line) []hit {
	return sees(!l.setup && told(j.words, runVerbs, 5, runNouns) && !hasAny(l.text, sampleMarks), l)
}

func matchFormat(j *judge, l *line) []hit {
	if l.setup || l.kind == heading {
		return nil
	}
	for _, w := range j.words {
		if strings.HasPrefix(w.text, ".") && officeFormats[w.text[1:]] || officeNames[w.text] {
			return sees(true, l)
		}
	}
	return nil
}

// matchPath looks for a path after a word for putting something there or taking it from there.
func matchPath(j *judge, l *line) []hit {
	if l.setup || !l.instruction() {
		return nil
	}
	for i, w := range j.words {
		if !pathVerbs[w.text] {
			continue
		}
		for k := i + 1; k < len(j.words) && k <= i+10; k++ {
			if isPath(j.words[k].text) && !j.holds(j.words[k].text) {
				return sees(true, l)
			}
		}
	}
	return nil
}

// isPath reports a word that is a file or a directory, and no address or pair of words.
func isPath(w string) bool {
	if strings.Contains(w, "://") || strings.Contains(w, "@") {
		return false
	}
	if ext := path.Ext(w); len(ext) > 1 && fileExts[ext[1:]] {
		return len(w) > len(ext)
	}
	return (strings.HasPrefix(w, "./") || strings.HasPrefix(w, "~/")) && len(w) > 3 ||
		strings.HasPrefix(w, ".") && strings.Contains(w, "/") || strings.HasPrefix(w, "/") && strings.Count(w, "/") > 2
}

// holds reports a path of the bundle itself, or one under the directories where bundles keep their reference texts.
func (j *judge) holds(p string) bool {
	p = strings.TrimLeft(path.Clean(strings.TrimPrefix(p, "{basedir}/")), "./")
	first, _, deeper := strings.Cut(p, "/")
	if deeper && referenceDirs[first] || strings.HasSuffix(p, "skill.md") {
		return true
	}
	if j.own == nil {
		j.own = ownPaths(j.b)
	}
	return j.own[p]
}

// ownPaths are the paths of the bundle's files in lower case, and what is left of them without their first directories.
func ownPaths(b *Bundle) map[string]bool {
	own := map[string]bool{}
	for _, f := range b.Files {
		for p, more := strings.ToLower(f.Path), true; more; _, p, more = strings.Cut(p, "/") {
			own[p] = true
		}
	}
	return own
}

// manyFiles is from how many names of files on a text works with files.
const manyFiles = 4

// matchFileNames counts the files that are named between backquotes and are not the bundle's own.
func matchFileNames(j *judge) []hit {
	seen := map[string]bool{}
	for i := range j.b.doc.lines {
		l := &j.b.doc.lines[i]
		for _, s := range l.spans {
			if low := strings.ToLower(s); !strings.Contains(s, " ") && isPath(low) && !j.holds(low) {
				seen[low] = true
			}
		}
		if len(seen) >= manyFiles {
			return sees(true, l)
		}
	}
	return nil
}

// matchPurpose asks of the description what the skill is for.
func matchPurpose(j *judge) []hit {
	j.words = readWords(strings.ToLower(j.b.Description), j.words)
	if len(j.words) > 0 && adviceVerbs[j.words[0].text] {
		return nil // what a skill is for comes first
	}
	for i, w := range j.words {
		if runningVerbs[w.text] && near(j.words, i, 4, runNouns) >= 0 {
			return []hit{{line: j.b.descriptionLine, seen: j.b.Description}}
		}
		if !devVerbs[w.text] {
			continue
		}
		if k := near(j.words, i, 8, devNouns); k >= 0 {
			return []hit{{line: j.b.descriptionLine, seen: w.text + " … " + j.words[k].text}}
		}
	}
	if told(j.words, lookVerbs, 6, codeNouns) {
		return []hit{{line: j.b.descriptionLine, seen: j.b.Description}}
	}
	making, term := firstOf(j.words, makingVerbs), firstOf(j.words, techTerms)
	if term == "" || making == "" && term != "sdk" {
		return nil
	}
	return []hit{{line: j.b.descriptionLine, seen: making + " … " + term}}
}

// firstOf is the first word that is in set.
func firstOf(words []word, set map[string]bool) string {
	for _, w := range words {
		if set[w.text] {
			return w.text
		}
	}
	return ""
}

// matchPrograms looks for programs that the front matter declares to need.
func matchPrograms(j *judge) (out []hit) {
	binaries, _ := j.b.declared()
	for _, n := range binaries {
		out = append(out, hit{line: max(j.b.metadataLine, j.b.requiresLine), seen: n.Name})
	}
	return out
}

// matchCompatibility looks for an environment to run programs in.
func matchCompatibility(j *judge) []hit {
	words := readWords(strings.ToLower(j.b.Compatibility), nil)
	if firstOf(words, needWords) == "" || firstOf(words, environments) == "" {
		return nil
	}
	return []hit{{line: j.b.compatibilityLine, seen: j.b.Compatibility}}
}

// Bounds of what is read of the bundle's other texts.
const (
	maxReferences = 20
	maxReference  = 256 << 10 // bytes of each
)

// matchReferences looks for code in the texts of the bundle that SKILL.md sends the reader to.
func matchReferences(j *judge) (out []hit) {
	read := 0
	for _, f := range j.b.Files {
		if path.Ext(f.Path) != ".md" || f.Path == j.b.SkillFile || !strings.Contains(j.b.Body, f.Path) {
			continue
		}
		if read++; read > maxReferences || len(out) == maxHits {
			break
		}
		data := j.b.Contents[f.Path]
		if line, seen := firstCode(string(data[:min(len(data), maxReference)])); line > 0 {
			out = append(out, hit{file: f.Path, line: line, seen: seen})
		}
	}
	return out
}

// firstCode is the first line of a fence of code or commands; 0 when there is none.
func firstCode(text string) (line int, seen string) {
	for n := 1; ; n++ {
		before, rest, more := strings.Cut(text, "\n")
		if open := strings.TrimLeft(before, " \t>"); strings.HasPrefix(open, "```") {
			if lang := leadingWord(strings.ToLower(strings.TrimLeft(open, "`"))); codeLangs[lang] || shellLangs[lang] {
				seen, _, _ = strings.Cut(rest, "\n")
				return n + 1, seen
			}
		}
		if !more {
			return 0, ""
		}
		text = rest
	}
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
