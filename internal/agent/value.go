package agent

import (
	"encoding/json"
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/digest"
)

// jsonNumber is RFC 8259's grammar. What YAML also calls a number (0x10, 010, 1_000, .inf) means different things to
// different readers, so it is refused.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// value reads any JSON value and the places of the strings in it.
func (r *reader) value(n *yaml.Node, what string) Value {
	v := Value{Pos: place(n)}
	before := r.count
	tree := r.tree(n, what, &v.Strings)
	if r.count > before {
		return v
	}
	raw, err := json.Marshal(tree)
	if err == nil {
		v.JSON, err = digest.CanonicalJSON(raw)
	}
	if err != nil {
		r.fail(n, "%s: %v", what, err)
	}
	return v
}

// mapping is a value that is an object.
func (r *reader) mapping(n *yaml.Node, what string) Value {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping, not %s", what, kind(n))
		return Value{Pos: place(n)}
	}
	return r.value(n, what)
}

func (r *reader) tree(n *yaml.Node, what string, found *[]Text) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			m[n.Content[i].Value] = r.tree(n.Content[i+1], what, found)
		}
		return m
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, c := range n.Content {
			list[i] = r.tree(c, what, found)
		}
		return list
	}
	switch {
	case isText(n):
		*found = append(*found, text(n))
		return n.Value
	case n.ShortTag() == "!!null":
		return nil
	case n.ShortTag() == "!!bool":
		return r.boolean(n, what)
	}
	if !jsonNumber.MatchString(n.Value) {
		r.fail(n, "%s: %q is not a number of JSON", what, n.Value).WithHint("write it in plain decimal, or in quotes when it is text")
	}
	return json.Number(n.Value)
}
