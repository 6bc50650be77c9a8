package skill

import (
	"path"
	"strings"
)

// matchPath looks for a path after a word for putting something there or taking it from there.
func matchPath(j *judge, l *line) []hit {
	if l.setup || !l.instruction() || hasAny(l.low, whereThere) {
		return nil
	}
	for i, w := range j.words {
		if !pathVerbs[w.text] {
			continue
		}
		for k := i + 1; k < len(j.words) && k <= i+10; k++ {
			if isPath(j.words[k].text) && !j.holds(j.words[k].text) && !after(j.words, k, 2, negations) {
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

// pointsInside reports a line that names a file of the bundle itself: it sends the reader on to more text.
func (j *judge) pointsInside() bool {
	for _, w := range j.words {
		if isPath(w.text) && j.holds(w.text) {
			return true
		}
	}
	return false
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

// Bounds of what is read of the bundle's other texts.
const (
	maxReferences = 20
	maxReference  = 256 << 10 // bytes of each
)

// matchReferences looks for code in the texts of the bundle that SKILL.md sends the reader to.
func matchReferences(j *judge) []hit { return j.referenceBlocks(1) }

// matchCodeReferences looks for such texts that are full of it.
func matchCodeReferences(j *judge) []hit { return j.referenceBlocks(manyBlocks) }

// referenceBlocks are the blocks of that number in those texts, from 1.
func (j *judge) referenceBlocks(wanted int) (out []hit) {
	read := 0
	for _, f := range j.b.Files {
		if path.Ext(f.Path) != ".md" || f.Path == j.b.SkillFile || !strings.Contains(j.b.Body, f.Path) {
			continue
		}
		if read++; read > maxReferences || len(out) == maxHits {
			break
		}
		data := j.b.Contents[f.Path]
		for i, h := range codeBlocks(string(data[:min(len(data), maxReference)]), wanted) {
			if h.file = f.Path; i == wanted-1 {
				out = append(out, h)
			}
		}
	}
	return out
}

// manyBlocks is from how many blocks on a text is about code and does not only show some.
const manyBlocks = 3

// codeBlocks are the first lines of fences of code or commands, up to most of them.
func codeBlocks(text string, most int) (out []hit) {
	for n := 1; len(out) < most; n++ {
		before, rest, more := strings.Cut(text, "\n")
		if open := strings.TrimLeft(before, " \t>"); strings.HasPrefix(open, "```") {
			if lang := leadingWord(strings.ToLower(strings.TrimLeft(open, "`"))); codeLangs[lang] || shellLangs[lang] {
				seen, _, _ := strings.Cut(rest, "\n")
				out = append(out, hit{line: n + 1, seen: seen})
			}
		}
		if !more {
			break
		}
		text = rest
	}
	return out
}
