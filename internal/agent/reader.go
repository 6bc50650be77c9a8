package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/fault"
)

// reader collects what is wrong while a tree is read. Its methods return the zero value for what they refused, so that
// one pass finds every error of a file.
type reader struct {
	file  string
	errs  []*fault.Error          // at most maxErrors
	count int                     // of all errors
	bare  map[*fault.Error]string // errors of an action that names no connection, to what it names
}

func (r *reader) failAt(p Pos, format string, args ...any) *fault.Error {
	e := fault.New(fault.Input, format, args...).At(r.file, p.Line, p.Col)
	e.Code = Code
	r.count++
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, e)
	}
	return e
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) *fault.Error {
	return r.failAt(place(n), format, args...)
}

func place(n *yaml.Node) Pos { return Pos{n.Line, n.Column} }

// field is one key an object may have.
type field struct {
	key      string
	required bool
	read     func(*yaml.Node)
}

// object reads a mapping by its fields, in the order of the file. what names the object in errors.
func (r *reader) object(n *yaml.Node, what string, fields []field) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping, not %s", what, kind(n))
		return
	}
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.key
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := slices.Index(known, k.Value)
		if at < 0 {
			r.fail(k, "unknown key %q in %s", k.Value, what).Hint = DidYouMean(k.Value, known)
			continue
		}
		seen[k.Value] = true
		if v.ShortTag() == "!!null" {
			r.fail(k, "%s has no value", k.Value).WithHint("give it one or remove the key")
			continue
		}
		fields[at].read(v)
	}
	for _, f := range fields {
		if f.required && !seen[f.key] {
			r.fail(n, "%s needs %s", what, f.key)
		}
	}
}

// each reads a mapping whose keys the author chooses; a key must match rule.
func (r *reader) each(n *yaml.Node, what string, rule *regexp.Regexp, read func(key string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping, not %s", what, kind(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if !rule.MatchString(k.Value) {
			r.fail(k, "%q is not a key for %s: it must match %s", k.Value, what, rule)
			continue
		}
		read(k.Value, k, v)
	}
}

func (r *reader) list(n *yaml.Node, what string, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s must be a list, not %s", what, kind(n))
		return
	}
	for _, c := range n.Content {
		read(c)
	}
}

func (r *reader) string(n *yaml.Node, what string) Text {
	if n.Kind != yaml.ScalarNode || !isText(n) {
		e := r.fail(n, "%s must be text, not %s", what, kind(n))
		if n.Kind == yaml.ScalarNode && n.Value != "" {
			e.WithHint("put it in quotes: %q", n.Value)
		}
		return Text{Pos: place(n)}
	}
	if n.Value == "" {
		r.fail(n, "%s is empty", what)
	}
	return text(n)
}

func (r *reader) strings(n *yaml.Node, what string) []string {
	out := []string{}
	r.list(n, what, func(c *yaml.Node) { out = append(out, r.string(c, "an entry of "+what).Value) })
	return out
}

// matching is a string that follows a rule said in words.
func (r *reader) matching(n *yaml.Node, what string, rule *regexp.Regexp, words string) Text {
	t := r.string(n, what)
	if t.Value != "" && !rule.MatchString(t.Value) {
		r.fail(n, "%s %q is not valid: %s", what, t.Value, words)
	}
	return t
}

func (r *reader) word(n *yaml.Node, what string, known ...string) string {
	t := r.string(n, what)
	if t.Value != "" && !slices.Contains(known, t.Value) {
		r.fail(n, "%s cannot be %q", what, t.Value).WithHint("it is one of %s", strings.Join(known, ", "))
	}
	return t.Value
}

// integer reads a whole number from 1 to high.
func (r *reader) integer(n *yaml.Node, what string, high int) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
		r.fail(n, "%s must be a whole number, not %s", what, kind(n))
		return 1
	}
	if v < 1 || v > high {
		r.fail(n, "%s is %d, outside 1 to %d", what, v, high)
	}
	return v
}

func (r *reader) boolean(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" || n.Value != "true" && n.Value != "false" {
		r.fail(n, "%s must be true or false, not %s", what, kind(n))
	}
	return n.Value == "true"
}

// text keeps where the first rune of the value stands in its line, when the spelling is the value itself.
func text(n *yaml.Node) Text {
	t := Text{Value: n.Value, Pos: place(n), inline: -1}
	switch {
	case strings.ContainsAny(n.Value, "\n\r\t\\\"'"):
	case n.Style == 0:
		t.inline = 0
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		t.inline = 1
	}
	return t
}

// isText also takes what YAML 1.1 reads as a time: joy.yaml knows no times.
func isText(n *yaml.Node) bool { return n.ShortTag() == "!!str" || n.ShortTag() == "!!timestamp" }

func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.ShortTag() == "!!null":
		return "nothing"
	case isText(n):
		return "text"
	case n.ShortTag() == "!!bool":
		return "true or false"
	}
	return "a number"
}
