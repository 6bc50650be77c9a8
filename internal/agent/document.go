package agent

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Limits of a joy.yaml. They bound what parsing a stranger's file costs.
const (
	MaxBytes = 1 << 20
	MaxDepth = 32
)

// document reads the one YAML document of data, without resolving anything.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > MaxBytes {
		r.failAt(Pos{}, "the file has %d bytes; joy reads at most %d", len(data), MaxBytes)
		return nil
	}
	if !r.text(data) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		r.failAt(Pos{}, "the file is empty").WithHint("joy init writes one to start from")
		return nil
	} else if err != nil {
		r.syntax(data, err)
		return nil
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		r.failAt(Pos{next.Line, next.Column}, "a second document starts here: joy.yaml is one").WithHint("remove the line with ---")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(data, err)
		return nil
	}
	return doc.Content[0]
}

// text refuses what is not plain UTF-8, with the place of the first wrong byte.
func (r *reader) text(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		r.failAt(Pos{1, 1}, "the file is UTF-16").WithHint("save it as UTF-8")
		return false
	}
	line, col := 1, 1
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			r.failAt(Pos{line, col}, "the byte 0x%02x is not UTF-8", data[i]).WithHint("save the file as UTF-8")
			return false
		case c == 0:
			r.failAt(Pos{line, col}, "a NUL byte: this is not a text file")
			return false
		case c == '\n':
			line, col = line+1, 0
		}
		i, col = i+n, col+1
	}
	return true
}

var yamlLine = regexp.MustCompile(`(?s)^yaml: line (\d+): (.*)$`)

// syntax turns an error of the YAML reader into one with a place. A tab in the indentation is the commonest cause and
// the least visible one, so it is looked for first.
func (r *reader) syntax(data []byte, err error) {
	for i, line := range strings.Split(string(data), "\n") {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && strings.TrimSpace(line) != "" {
			r.failAt(Pos{i + 1, tab + 1}, "a tab in the indentation").WithHint("indent with spaces")
			return
		}
	}
	msg, pos := strings.TrimPrefix(err.Error(), "yaml: "), Pos{}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		pos.Line, _ = strconv.Atoi(m[1])
		msg = m[2]
	}
	e := r.failAt(pos, "%s", msg)
	if strings.Contains(msg, "mapping values are not allowed") {
		e.WithHint(`put the value in quotes when it holds ": "`)
	}
}

// shape walks the whole tree before anything is read from it, so that no later stage meets an alias, a key that is
// there twice, or a depth it would have to bound itself. False ends the walk.
func (r *reader) shape(n *yaml.Node, depth int) bool {
	switch {
	case depth > MaxDepth:
		r.fail(n, "nested more than %d deep", MaxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		r.fail(n, "an alias (*%s): joy.yaml has none", n.Value).WithHint("write the value out")
		return true
	case n.Anchor != "":
		r.fail(n, "an anchor (&%s): joy.yaml has none", n.Anchor).WithHint("write the value out where it is needed")
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, "a tag (%s): joy.yaml has none", n.Tag)
	}
	if n.Kind == yaml.MappingNode {
		r.keys(n)
	}
	for _, c := range n.Content {
		if !r.shape(c, depth+1) {
			return false
		}
	}
	return true
}

func (r *reader) keys(n *yaml.Node) {
	first := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		k := n.Content[i]
		switch prior := first[k.Value]; {
		case k.Kind == yaml.AliasNode: // the walk says it
		case k.Kind != yaml.ScalarNode:
			r.fail(k, "a key must be text")
		case k.Tag == "!!merge":
			r.fail(k, "a merge key (<<): joy.yaml has none").WithHint("write the values out")
		case prior != nil:
			r.fail(k, "the key %q is there twice, first in line %d", k.Value, prior.Line)
		default:
			first[k.Value] = k
		}
	}
}
