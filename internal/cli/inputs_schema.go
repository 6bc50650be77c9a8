package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
)

// property is what joy reads of one input's schema.
type property struct {
	Type    any             `json:"type"`
	Format  string          `json:"format"`
	Secret  bool            `json:"x-joy-secret"`
	Default json.RawMessage `json:"default"`
}

func (p property) isFile() bool { return p.Type == "string" && p.Format == "file" }

// inputSpec is what joy reads of the schema of a run's input.
type inputSpec struct {
	props map[string]property
	open  bool // names may come from elsewhere than props
}

func readInputSpec(raw json.RawMessage) (inputSpec, error) {
	var s inputSpec
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return s, err
	}
	if props, ok := keys["properties"]; ok {
		if err := json.Unmarshal(props, &s.props); err != nil {
			return s, err
		}
	}
	for _, key := range []string{"additionalProperties", "patternProperties", "allOf", "anyOf", "oneOf", "$ref"} {
		more, ok := keys[key]
		s.open = s.open || ok && string(more) != "false"
	}
	return s, nil
}

// knows refuses names that the plan does not have, unless its schema leaves names open in so many words: JSON Schema
// would let a slip pass.
func (s inputSpec) knows(values map[string]json.RawMessage) error {
	if s.open {
		return nil
	}
	known := slices.Sorted(maps.Keys(s.props))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if _, ok := s.props[name]; ok {
			continue
		}
		e := fault.New(fault.Input, "the plan has no input %q", name)
		near := agent.Near(name, known)
		switch {
		case near != "":
			return e.WithHint("did you mean %s?", near)
		case len(known) == 0:
			return e.WithHint("it takes none; inputs are declared in joy.yaml")
		}
		return e.WithHint("its inputs are %s", strings.Join(known, ", "))
	}
	return nil
}

// typed turns a flag's text into JSON by the schema's type: text is text unless the schema says otherwise.
func typed(p property, text string) (json.RawMessage, error) {
	kinds, _ := p.Type.([]any)
	if one, ok := p.Type.(string); ok {
		kinds = []any{one}
	}
	if len(kinds) == 0 || slices.Contains(kinds, "string") {
		return json.Marshal(text)
	}
	v := json.RawMessage(text)
	switch {
	case !json.Valid(v) && p.Secret:
		return nil, fmt.Errorf("it is not of type %v", p.Type)
	case !json.Valid(v):
		return nil, fmt.Errorf("%q is not of type %v", text, p.Type)
	}
	return v, nil
}
