package build

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret/rules"
	"github.com/joystream-ai/joy/internal/skill"
)

// secrets judges what has the shape of a credential in joy.yaml: in its text, and in what its strings say once they are read,
// whose spelling may hide it. Of bundles, skill.Load has told.
func (b *builder) secrets() {
	find := rules.Default().Finder()
	told := map[string]bool{}
	for _, s := range b.secretsIn(b.spec.File, b.text) {
		told[s.Rule] = true
	}
	var values []agent.Value
	if b.spec.Inputs != nil {
		values = append(values, *b.spec.Inputs)
	}
	for _, s := range b.spec.Steps {
		values = append(values, s.With)
		for _, g := range s.Tools {
			values = append(values, g.With)
		}
	}
	for _, v := range values {
		for _, t := range v.Strings {
			for _, s := range skill.Secrets(find, []byte(t.Value)) {
				if !told[s.Rule] {
					told[s.Rule] = true
					s.Line, s.Col = t.Line, t.Col
					b.secret(b.spec.File, s)
				}
			}
		}
	}
}

// secretsIn judges the text of one file of the project.
func (b *builder) secretsIn(file string, text []byte) []skill.Secret {
	list := skill.Secrets(rules.Default().Finder(), text)
	for _, s := range list {
		b.secret(file, s)
	}
	return list
}

func (b *builder) secret(file string, s skill.Secret) {
	b.judge(plan.Finding{
		Rule: skill.RuleSecret, By: s.Rule, Severity: skill.SeverityError, File: file, Line: s.Line, Col: s.Col, Message: s.Says(),
	})
}

// marks holds that x-joy-secret stands where it is read: on an input as a whole, which is no file. Elsewhere its author would
// take for kept off the record what is not.
func (b *builder) marks() {
	var at agent.Pos
	if b.spec.Inputs != nil {
		at = b.spec.Inputs.Pos
	}
	var schema map[string]any
	if json.Unmarshal(b.plan.Inputs, &schema) != nil {
		return // the check of schemas tells it
	}
	props, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		prop, ok := props[name].(map[string]any)
		if !ok || prop[secretMark] != true {
			continue
		}
		if prop["format"] == "file" {
			b.fail(at, "the input %s is a file, whose bytes are kept on record: it cannot be %s", name, secretMark).
				WithHint("give the text of the secret as an input of its own")
		}
		delete(prop, secretMark)
	}
	if marked(schema) {
		b.fail(at, "%s is read of an input as a whole, and stands within one", secretMark).
			WithHint("inputs: {type: object, properties: {pin: {type: string, %s: true}}}", secretMark)
	}
}

const secretMark = "x-joy-secret"

// marked says whether the mark stands anywhere in a schema.
func marked(v any) bool {
	switch t := v.(type) {
	case []any:
		return slices.ContainsFunc(t, marked)
	case map[string]any:
		return t[secretMark] == true || slices.ContainsFunc(slices.Collect(maps.Values(t)), marked)
	}
	return false
}
