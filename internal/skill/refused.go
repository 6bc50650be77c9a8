package skill

import (
	"cmp"
	"io/fs"
	"path"
	"strings"
)

// NeedsOfText judges a bundle that Load refuses by its text alone: one without front matter, or with one that is not
// YAML. It is for telling people about the bundle; nothing is built from it. The description is what a line
// "description:" says, or else the first paragraph. The error says that SKILL.md itself cannot be read.
func NeedsOfText(fsys fs.FS, dir string, opts Options) (Needs, error) {
	b := &Bundle{Dir: path.Clean(dir), Contents: map[string][]byte{}}
	raw, err := b.readSkillFile(fsys)
	if err != nil {
		return Needs{}, err
	}
	r := &report{file: b.skillPath()}
	if err := checkEncoding(raw, r); err != nil {
		return Needs{}, err
	}
	front, err := split(raw, r)
	b.Body, b.BodyLine = front.body, front.bodyLine
	if err != nil {
		b.Body, b.BodyLine = strings.ReplaceAll(string(raw), "\r\n", "\n"), 1
	}
	b.Name = dirName(b.Dir, opts.DirName)
	b.Description, b.descriptionLine = describes(front.yaml, front.line)
	if b.Description == "" {
		b.Description, b.descriptionLine = describes(strings.Split(b.Body, "\n"), b.BodyLine)
	}
	// A file that cannot be held leaves the bundle without files: the text still says what it does.
	if err := b.readFiles(fsys, raw, declaration{}, opts.Read, r); err != nil {
		b.Files, b.Contents = nil, map[string][]byte{}
	}
	b.doc = readDocument(b.Body, b.BodyLine)
	b.Candidates = b.findCandidates()
	return b.Needs(), nil
}

// describes finds a description in lines that begin with line first.
func describes(lines []string, first int) (text string, line int) {
	for i, l := range lines {
		if said, ok := strings.CutPrefix(strings.TrimSpace(l), "description:"); ok {
			return strings.TrimSpace(said), first + i
		}
		if t := strings.TrimSpace(l); line == 0 && t != "" && !strings.HasPrefix(t, "#") && !strings.HasPrefix(t, "```") && !strings.Contains(t, ": ") {
			text, line = t, first+i
		}
	}
	return text, cmp.Or(line, first)
}
