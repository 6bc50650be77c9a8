package operator

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/fault"
)

// pos is a place in a policy, 1-based.
type pos struct{ line, col int }

// reader collects what is wrong with a policy while it is read.
type reader struct {
	file string
	errs []error
	at   map[string]pos
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	e := fault.New(fault.Input, format, args...).At(r.file, n.Line, n.Column)
	e.Code = Code
	r.errs = append(r.errs, e)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// root reads one document without aliases, anchors and tags, whose root is a mapping.
func (r *reader) root(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, next yaml.Node
	err := dec.Decode(&doc)
	switch {
	case errors.Is(err, io.EOF):
		r.fail(&yaml.Node{Line: 1, Column: 1}, "the policy is empty; it begins with version: 1")
		return nil
	case err != nil:
		m := yamlLine.FindStringSubmatch(err.Error())
		line := 0
		if m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		r.fail(&yaml.Node{Line: line}, "%s", yamlLine.ReplaceAllString(err.Error(), ""))
		return nil
	case !errors.Is(dec.Decode(&next), io.EOF):
		r.fail(&yaml.Node{Line: next.Line, Column: next.Column}, "a policy is one document")
		return nil
	}
	r.plain(doc.Content[0], 0)
	return doc.Content[0]
}

func (r *reader) plain(n *yaml.Node, depth int) {
	switch {
	case depth > 8:
		r.fail(n, "nested more than 8 deep")
		return
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0:
		r.fail(n, "an alias, anchor or tag: a policy has none")
		return
	}
	for _, c := range n.Content {
		r.plain(c, depth+1)
	}
}

// object reads a mapping by its keys; prefix is what their places are kept under.
func (r *reader) object(n *yaml.Node, prefix string, fields map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "want a mapping")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		read := fields[k.Value]
		switch {
		case read == nil:
			r.fail(k, "unknown key %q", k.Value)
		case seen[k.Value]:
			r.fail(k, "%s is there twice", k.Value)
		case v.ShortTag() == "!!null":
			r.fail(k, "%s has no value: it would look like a bound and be none", k.Value)
		default:
			seen[k.Value] = true
			if prefix != "-" {
				r.at[prefix+k.Value] = pos{k.Line, k.Column}
			}
			read(v)
		}
	}
}

func (r *reader) each(n *yaml.Node, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "want a list")
		return
	}
	for _, c := range n.Content {
		read(c)
	}
}

func (r *reader) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		r.fail(n, "want text")
		return ""
	}
	return n.Value
}

// texts is never nil: an empty list forbids, and a key that is not there does not.
func (r *reader) texts(n *yaml.Node) []string {
	out := []string{}
	r.each(n, func(n *yaml.Node) { out = append(out, r.text(n)) })
	return out
}

func (r *reader) word(n *yaml.Node, known []string) string {
	w := r.text(n)
	if w != "" && !slices.Contains(known, w) {
		r.fail(n, "%q is none of %s", w, strings.Join(known, ", "))
	}
	return w
}

func (r *reader) number(n *yaml.Node) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || v < 1 {
		r.fail(n, "want a whole number from 1")
	}
	return v
}

func (r *reader) boolean(n *yaml.Node) *bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		r.fail(n, "want true or false")
	}
	v := n.Value == "true"
	return &v
}

// measured reads what a parser of package policy reads.
func measured[T any](r *reader, n *yaml.Node, parse func(string) (T, error)) T {
	v, err := parse(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil {
		r.fail(n, "%s", cause(err))
	}
	return v
}

func cause(err error) string {
	if err == nil {
		return "want one value"
	}
	return fmt.Sprint(err)
}
