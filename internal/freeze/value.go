package freeze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/joystream-ai/joy/internal/plan"
)

// Bounds of the values that are looked for: a shorter one, or a number, stands in a script by chance.
const (
	minValue = 3
	maxValue = 4 << 10
)

// value is one of the step's inputs as it may stand in what the model wrote.
type value struct {
	name, variable, text string
	file                 bool
	left                 bool // it still stands somewhere as text
}

// inputValues are the inputs that are texts, the longest first: one may be a part of another.
func inputValues(o Options) []value {
	var list []value
	for _, name := range slices.Sorted(maps.Keys(o.Input)) {
		text, ok := o.Input[name].(string)
		if !ok || len(text) < minValue || len(text) > maxValue || strings.ContainsAny(text, "\x00\n") || strings.Trim(text, "0123456789.,-") == "" {
			continue
		}
		list = append(list, value{name: name, variable: plan.InputVariable(name), text: text, file: slices.Contains(o.Files, name)})
	}
	slices.SortStableFunc(list, func(a, b value) int { return cmp.Compare(len(b.text), len(a.text)) })
	return list
}

// moved names the new bundle where the text names the old one.
func (w *writer) moved(text string) string {
	if w.o.Skill == w.o.Name {
		return text
	}
	return strings.ReplaceAll(text, "skills/"+w.o.Skill+"/", "skills/"+w.o.Name+"/")
}

// place puts the input's variables in the place of its values where a word of the shell is that value, or has it among
// nothing but plain characters: there it means the same for any other value. What it says of the rest is for a person.
func (w *writer) place(script string) (string, []string) {
	script = w.moved(script)
	for i := range w.values {
		f, err := parse(script)
		if err != nil {
			break
		}
		script = substitute(script, f, w.values[i])
	}
	return script, w.remaining(script)
}

// remaining says which values still stand in a text.
func (w *writer) remaining(text string) []string {
	var notes []string
	for i := range w.values {
		v := &w.values[i]
		if !bounded(text, v.text) {
			continue
		}
		v.left = true
		if v.file {
			notes = append(notes, fmt.Sprintf("the path of the input %s stands in it as text; a link at the top makes it right for every file", v.name))
		} else {
			notes = append(notes, fmt.Sprintf("the input %s was %q in that run, which stands in it as text: read $%s, if that is what it is", v.name, v.text, v.variable))
		}
	}
	return notes
}

// bounded says whether a text has a value by itself, and not as a part of a longer word.
func bounded(text, v string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], v)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(v)
		if (begin == 0 || !letter(text[begin-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		at = end
	}
}

func letter(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// edit is a part of a script and what comes in its place.
type edit struct {
	from, to uint
	text     string
}

func substitute(script string, f *syntax.File, v value) string {
	var edits []edit
	word := func(word *syntax.Word) {
		if word == nil {
			return
		}
		text, ok := static(word)
		if !ok {
			return
		}
		if to, ok := v.within(text); ok {
			edits = append(edits, edit{word.Pos().Offset(), word.End().Offset(), to})
		}
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for _, a := range n.Args[min(1, len(n.Args)):] {
				word(a)
			}
		case *syntax.Assign:
			word(n.Value)
		case *syntax.Redirect:
			if n.Hdoc == nil {
				word(n.Word)
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				word(item)
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		script = script[:e.from] + e.text + script[e.to:]
	}
	return script
}

// within is a word with the variable in the place of the value; false: it does not hold it, or not safely.
func (v value) within(word string) (string, bool) {
	read := `"$` + v.variable + `"`
	if word == v.text || v.file && "/workspace/"+word == v.text {
		return read, true
	}
	before, after, found := strings.Cut(word, v.text)
	if !found || !bounded(word, v.text) || strings.Contains(after, v.text) {
		return "", false
	}
	for _, c := range before + after {
		if !plain(c) && c != '=' {
			return "", false
		}
	}
	return `"` + before + `${` + v.variable + `}` + after + `"`, true
}

// static is the text of a word that the shell takes as it stands.
func static(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "\\*?[~{") {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", false
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || strings.ContainsRune(lit.Value, '\\') {
					return "", false
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}
