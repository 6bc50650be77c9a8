package model

import (
	"encoding/json"
	"slices"
)

// Strict says whether a provider can hold an answer to the schema by itself: both want every object closed and every property
// required, and refuse keywords that they do not know
// (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas,
// https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations).
func Strict(schema json.RawMessage) bool {
	var v any
	if len(schema) == 0 || json.Unmarshal(schema, &v) != nil {
		return false
	}
	top, ok := v.(map[string]any)
	return ok && top["type"] == "object" && strict(v)
}

// strictKeywords are what both providers understand.
var strictKeywords = []string{"type", "description", "title", "properties", "required", "additionalProperties", "items", "enum", "const"}

func strict(schema any) bool {
	s, ok := schema.(map[string]any)
	if !ok {
		return false
	}
	for key := range s {
		if !slices.Contains(strictKeywords, key) {
			return false
		}
	}
	if items, has := s["items"]; has && !strict(items) {
		return false
	}
	if s["type"] != "object" {
		return true
	}
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if s["additionalProperties"] != false || len(required) != len(props) {
		return false
	}
	for _, p := range props {
		if !strict(p) {
			return false
		}
	}
	return true
}
