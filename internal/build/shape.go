package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/plan"
)

// shape is what a JSON Schema says for certain about values: their types, their properties, their elements. nil is no
// certainty. Whatever joins schemas (allOf, if, …) is taken for no certainty, so that nothing is refused that could fit.
type shape struct {
	root map[string]any // for references
	node map[string]any
}

// maxRefs is how many references in a row are followed within a schema.
const maxRefs = 32

// shapeOf is the shape of a schema; nil for none.
func shapeOf(raw json.RawMessage) *shape {
	var root map[string]any
	if len(raw) == 0 || json.Unmarshal(raw, &root) != nil {
		return nil
	}
	return at(root, root)
}

// at is the shape of one schema within another.
func at(root map[string]any, schema any) *shape {
	for range maxRefs {
		node, ok := schema.(map[string]any)
		if !ok {
			return nil
		}
		for _, joined := range []string{"allOf", "anyOf", "oneOf", "not", "if", "$dynamicRef", "dependentSchemas"} {
			if _, ok := node[joined]; ok {
				return nil
			}
		}
		ref, ok := node["$ref"].(string)
		if !ok {
			return &shape{root, node}
		}
		if len(node) > 1 && !onlyNotes(node) {
			return nil
		}
		if schema = pointed(root, ref); schema == nil {
			return nil
		}
	}
	return nil
}

// onlyNotes reports a reference beside which nothing is said that counts.
func onlyNotes(node map[string]any) bool {
	for key := range node {
		if !slices.Contains([]string{"$ref", "title", "description", "$comment", "examples", "default", "$defs"}, key) {
			return false
		}
	}
	return true
}

// pointed follows a JSON Pointer (RFC 6901) from the root; nil when it leads nowhere.
func pointed(root map[string]any, ref string) any {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	var here any = root
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		node, ok := here.(map[string]any)
		if !ok {
			return nil
		}
		here = node[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
	}
	return here
}

// types lists what the schema declares; nil is any.
func (s *shape) types() []string {
	if s == nil {
		return nil
	}
	switch t := s.node["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, v := range t {
			if name, ok := v.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	return nil
}

// may reports that a value may be of a type.
func (s *shape) may(typ string) bool {
	declared := s.types()
	return declared == nil || slices.Contains(declared, typ) || typ == "integer" && slices.Contains(declared, "number")
}

// fits reports that some value is of both shapes, as far as types say.
func (s *shape) fits(other *shape) bool {
	if s.types() == nil || other.types() == nil {
		return true
	}
	return slices.ContainsFunc(s.types(), other.may) || slices.ContainsFunc(other.types(), s.may)
}

// property is what an object has under a key. closed lists the keys of an object that has no others; nil is open.
func (s *shape) property(key string) (sub *shape, known bool, closed []string) {
	if s == nil {
		return nil, true, nil
	}
	properties, _ := s.node["properties"].(map[string]any)
	if p, ok := properties[key]; ok {
		return at(s.root, p), true, nil
	}
	if _, ok := s.node["patternProperties"]; ok {
		return nil, true, nil
	}
	switch extra := s.node["additionalProperties"].(type) {
	case bool:
		if !extra {
			return nil, false, slices.Sorted(maps.Keys(properties))
		}
	case map[string]any:
		return at(s.root, extra), true, nil
	}
	return nil, true, nil
}

// element is what a list has.
func (s *shape) element() *shape {
	if s == nil || s.node["prefixItems"] != nil {
		return nil
	}
	return at(s.root, s.node["items"])
}

// follow goes along a path. The error completes "X: …"; it says where the path cannot go, whatever the value is.
func (s *shape) follow(path []plan.Elem) (*shape, error) {
	for i, e := range path {
		so := "it"
		if i > 0 {
			so = plan.Ref{Root: plan.RootInputs, Path: path[:i]}.String()[len(plan.RootInputs):]
			so = strings.TrimPrefix(so, ".")
		}
		want := "object"
		if e.List {
			want = "array"
		}
		if !s.may(want) {
			return nil, fmt.Errorf("%s is %s, with nothing of that name in it", so, strings.Join(s.types(), " or "))
		}
		if e.List {
			s = s.element()
			continue
		}
		sub, known, closed := s.property(e.Key)
		if !known {
			err := fmt.Errorf("%s has no %q", so, e.Key)
			if meant := agent.DidYouMean(e.Key, closed); meant != "" {
				err = fmt.Errorf("%w; %s", err, meant)
			}
			return nil, err
		}
		s = sub
	}
	return s, nil
}
