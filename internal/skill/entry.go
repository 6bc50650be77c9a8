package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// interpreters by extension, for files without a shebang.
var interpreters = map[string]string{".py": "python3", ".sh": "bash", ".js": "node", ".mjs": "node"}

// InterpreterHint is the remedy for an error of Interpreter.
const InterpreterHint = `begin the file with "#!", or name it .py (python3), .sh (bash), .js or .mjs (node)`

// resolveEntry judges the declared entry point against the files that are there and against skill_kind.
func (b *Bundle) resolveEntry(d declaration, r *report) {
	switch {
	case d.at.line == 0 && b.SkillKind == Script:
		hint := "add metadata: {joy.entry: scripts/run.py}"
		if len(b.Candidates) == 1 {
			hint = "add metadata: {joy.entry: " + b.candidatePaths[0] + "}, which the text runs"
		}
		r.fail(RuleEntry, place{}, hint, "skill_kind is script, and no entry point is declared")
		return
	case d.entry == "":
		return
	case b.SkillKind == Instruction:
		r.fail(RuleEntry, d.at, "drop skill_kind or the entry point", "skill_kind is instruction, and an entry point is declared")
		return
	}
	p := path.Clean(d.entry)
	if !fs.ValidPath(p) || strings.Contains(d.entry, `\`) {
		r.fail(RuleEntry, d.at, "name a file of the bundle, such as scripts/run.py", "entry point %q leads out of the bundle", d.entry)
		return
	}
	content, ok := b.Contents[p]
	if !ok {
		r.fail(RuleEntry, d.at, b.entryHint(), "entry point %q is not a file of the bundle", d.entry)
		return
	}
	argv, err := Interpreter(p, content)
	if err != nil {
		r.fail(RuleEntry, d.at, InterpreterHint, "entry point %s: %v", p, err)
		return
	}
	b.Entry = &Entry{Path: p, Argv: argv, Line: d.at.line}
}

// entryHint names what could have been meant.
func (b *Bundle) entryHint() string {
	var scripts []string
	for _, f := range b.Files {
		if isScript(f.Path, b.Contents[f.Path]) {
			scripts = append(scripts, f.Path)
		}
	}
	if len(scripts) == 0 {
		return "the bundle has no scripts"
	}
	return "the bundle has " + strings.Join(scripts[:min(len(scripts), 5)], ", ")
}

// isScript reports a file that joy could start.
func isScript(p string, content []byte) bool {
	_, known := interpreters[path.Ext(p)]
	return known || strings.HasPrefix(string(content[:min(2, len(content))]), "#!")
}

// Interpreter is what starts the script at path p: its shebang, else its extension; the path of the script follows as
// the last argument. A script of which neither says it is an error.
func Interpreter(p string, content []byte) ([]string, error) {
	line, _, _ := strings.Cut(string(content[:min(len(content), 4096)]), "\n")
	if rest, ok := strings.CutPrefix(line, "#!"); ok {
		return shebang(strings.Trim(strings.TrimSuffix(rest, "\r"), " \t"))
	}
	if name, ok := interpreters[path.Ext(p)]; ok {
		return []string{name}, nil
	}
	return nil, fmt.Errorf("it has no shebang, and extension %q names no interpreter", path.Ext(p))
}

// shebang reads what follows "#!" as Linux does: a path and at most one argument (execve(2)). For env the argument is
// the program, looked up on PATH as argv always is, so env itself is left out; with -S it is a list.
func shebang(rest string) ([]string, error) {
	prog, arg, _ := strings.Cut(strings.ReplaceAll(rest, "\t", " "), " ")
	arg = strings.TrimSpace(arg)
	switch {
	case !strings.HasPrefix(prog, "/"):
		return nil, fmt.Errorf("the shebang %q does not name an interpreter by its full path", "#!"+rest)
	case path.Base(prog) != "env":
		if arg == "" {
			return []string{prog}, nil
		}
		return []string{prog, arg}, nil
	}
	list, split := strings.CutPrefix(arg, "-S")
	words := strings.Fields(list)
	if len(words) == 0 {
		return nil, errors.New("the shebang calls env without a program")
	}
	if !split && len(words) > 1 {
		return nil, fmt.Errorf("the shebang gives env one argument, %q: write env -S to give it several", arg)
	}
	if strings.ContainsAny(list, `"'\$`) {
		return nil, errors.New("the shebang uses quotes or variables of env -S, which are not supported")
	}
	if special := func(w string) bool { return strings.HasPrefix(w, "-") || strings.Contains(w, "=") }; special(words[0]) {
		if !slices.ContainsFunc(words, func(w string) bool { return !special(w) }) {
			return nil, errors.New("the shebang calls env without a program")
		}
		return append([]string{"env"}, words...), nil
	}
	return words, nil
}
