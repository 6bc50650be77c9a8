package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// reaching are the keywords by which a schema can speak of a property elsewhere than in properties and required
// (https://json-schema.org/draft/2020-12/json-schema-core, section 10, and validation, section 6.5).
var reaching = []string{
	"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas",
	"dependencies", "patternProperties", "propertyNames", "minProperties", "maxProperties",
}

// Without is the schema of an object that has lost some of its properties: they are in neither properties nor required
// any more. A schema that may speak of them elsewhere at its top is refused, since what was left would not be true.
// What is not cut keeps its bytes.
func Without(raw json.RawMessage, names []string) (json.RawMessage, error) {
	var top map[string]json.RawMessage
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, fmt.Errorf("the schema is not an object: %w", err)
	}
	for _, keyword := range reaching {
		if _, there := top[keyword]; there {
			return nil, fmt.Errorf("an argument cannot be taken out of a schema with %s at its top", keyword)
		}
	}
	if props, there := top["properties"]; there {
		var list map[string]json.RawMessage
		if err := json.Unmarshal(props, &list); err != nil {
			return nil, fmt.Errorf("the schema's properties: %w", err)
		}
		for _, name := range names {
			delete(list, name)
		}
		top["properties"] = plain(list)
	}
	if required, there := top["required"]; there {
		var list []string
		if err := json.Unmarshal(required, &list); err != nil {
			return nil, fmt.Errorf("what the schema requires: %w", err)
		}
		top["required"] = plain(slices.DeleteFunc(list, func(n string) bool { return slices.Contains(names, n) }))
	}
	return plain(top), nil
}

// plain writes what was read from JSON, with < and > as they are.
func plain(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // it came from JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
