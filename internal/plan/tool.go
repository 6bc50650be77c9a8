package plan

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/joystream-ai/joy/internal/digest"
)

// Limits of one definition, so that a lock stays one that can be read.
const (
	MaxDefinition = 1 << 20 // bytes
	// maxNesting leaves room for the levels of the lock above a definition.
	maxNesting = digest.MaxDepth - 5
)

// Tool pins the definition of one tool, as its server gave it.
type Tool struct {
	// Digest is that of Definition. In the digest of a plan it stands for the definition, which may hold numbers that
	// canonical JSON has not.
	Digest string `json:"digest"`
	// Definition is digest.CanonicalText of what the server sent: every number keeps the spelling it came with.
	Definition json.RawMessage `json:"definition,omitempty"`
}

// PinTool pins what a server gave as the definition of a tool of this name. The error completes "NAME: …".
func PinTool(name string, definition json.RawMessage) (Tool, error) {
	canonical, err := digest.CanonicalText(definition)
	if err != nil {
		return Tool{}, err
	}
	t := Tool{Digest: digest.Bytes(canonical), Definition: canonical}
	return t, t.check(name)
}

// check holds what whoever reads the pin relies on.
func (t Tool) check(name string) error {
	if len(t.Definition) > MaxDefinition {
		return fmt.Errorf("the definition has %d bytes, and a lock keeps at most %d", len(t.Definition), MaxDefinition)
	}
	if t.Digest != digest.Bytes(t.Definition) {
		return errors.New("the digest does not fit its definition")
	}
	var own string
	if json.Unmarshal(t.Part("name"), &own) != nil || own != name {
		return fmt.Errorf("the definition is of another tool, %.80q", own)
	}
	if n := nesting(t.Definition); n > maxNesting {
		return fmt.Errorf("the definition is nested %d levels deep, and a lock keeps at most %d", n, maxNesting)
	}
	return nil
}

// Part is the value of one key of the definition, spelled exactly so, or nil.
func (t Tool) Part(key string) json.RawMessage {
	var parts map[string]json.RawMessage
	if json.Unmarshal(t.Definition, &parts) != nil {
		return nil
	}
	return parts[key]
}

// ReadOnly reports whether the tool says of itself that it changes nothing.
func (t Tool) ReadOnly() bool {
	var hints map[string]json.RawMessage
	return json.Unmarshal(t.Part("annotations"), &hints) == nil && string(hints["readOnlyHint"]) == "true"
}

// nesting is how many arrays and objects lie inside each other in JSON text.
func nesting(raw []byte) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
