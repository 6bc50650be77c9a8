package plan

import (
	"fmt"
	"strings"
)

// Dot draws the graph in Graphviz's language (https://graphviz.org/doc/info/lang.html). Steps in the VM are boxes with
// a second border, the others are rounded.
func Dot(p *Plan) string {
	var b strings.Builder
	b.WriteString("digraph plan {\n  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
	for _, s := range p.Steps {
		vm := ""
		if s.NeedsVM() {
			vm = `, style=solid, peripheries=2`
		}
		fmt.Fprintf(&b, "  %s [label=%s%s];\n", dotText(s.ID), dotText(s.ID+"\n"+caption(s)), vm)
	}
	for _, s := range p.Steps {
		for _, n := range s.Needs {
			fmt.Fprintf(&b, "  %s -> %s;\n", dotText(n), dotText(s.ID))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// caption is the second line of a step in a drawing.
func caption(s Step) string {
	what := s.Skill
	if s.Kind == Action {
		what = s.Action
	}
	out := s.Kind + " " + what
	if s.NeedsVM() {
		out += " (VM)"
	}
	return out
}

func dotText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", " ").Replace(s) + `"`
}

// Mermaid draws the graph as a flowchart (https://mermaid.js.org/syntax/flowchart.html). Steps in the VM are of the
// class vm and have the shape of a subroutine.
func Mermaid(p *Plan) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	name := map[string]string{}
	for i, s := range p.Steps {
		name[s.ID] = fmt.Sprintf("s%d", i) // an id such as "end" is a word of the language
		left, right := "([", "])"
		if s.NeedsVM() {
			left, right = "[[", "]]:::vm"
		}
		fmt.Fprintf(&b, "  s%d%s\"%s<br/>%s\"%s\n", i, left, mermaidText(s.ID), mermaidText(caption(s)), right)
	}
	for _, s := range p.Steps {
		for _, n := range s.Needs {
			fmt.Fprintf(&b, "  %s --> %s\n", name[n], name[s.ID])
		}
	}
	b.WriteString("  classDef vm stroke-width:3px\n")
	return b.String()
}

// mermaidText writes everything that the language or HTML could read as its own as a character code.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		case strings.ContainsRune("\"#&;<>`\\[](){}|%", r):
			fmt.Fprintf(&b, "#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
