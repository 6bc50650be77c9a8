package skill

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// text is a scalar as it was written, whatever type YAML would give it; null is empty. A list or mapping is an empty
// text and a violation.
func (r *fieldReader) text(f field) string {
	if f.value.Kind != yaml.ScalarNode {
		r.violation(RuleField, r.place(f.value), "%s is not a text", f.key)
		return ""
	}
	return scalar(f.value)
}

func scalar(n *yaml.Node) string {
	if n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// items is a list of texts, from a list or from one text taken apart by cut.
func (r *fieldReader) items(f field, cut func(string) []string) []string {
	var out []string
	switch f.value.Kind {
	case yaml.ScalarNode:
		if s := scalar(f.value); s != "" {
			out = cut(s)
		}
	case yaml.SequenceNode:
		for _, n := range f.value.Content {
			if n.Kind != yaml.ScalarNode {
				r.warn(RuleField, r.place(n), "an item of %s is not a text and was left out", f.key)
				continue
			}
			out = append(out, scalar(n))
		}
	default:
		r.warn(RuleField, r.place(f.value), "%s is neither a text nor a list and was left out", f.key)
	}
	return out
}

// splitTools takes "Read, Bash(git add:*) Grep" apart at commas and blanks outside brackets.
func splitTools(s string) []string {
	depth := 0
	return strings.FieldsFunc(s, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n')
	})
}

// plain turns YAML into text, lists and maps of text.
func plain(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			m[n.Content[i].Value] = plain(n.Content[i+1])
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = plain(c)
		}
		return list
	default:
		return scalar(n)
	}
}
