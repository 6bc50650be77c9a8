package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/schema"
)

// flow holds what schemas know beforehand: constants in `with` are what the skill takes, and references lead to
// something that can be there and fits. What no schema settles is left to the run, which checks every value.
func (b *builder) flow() {
	for _, s := range b.spec.Steps {
		to := b.taker(s)
		b.constants(s, to)
		var with any
		if json.Unmarshal(s.With.JSON, &with) != nil {
			continue
		}
		for _, t := range s.With.Strings {
			b.flowOf(t, to, places(with, shapeOf(to.schema), t.Value))
		}
	}
}

// taker is what a step hands its input to.
type taker struct {
	what   string          // in words: the skill, or the tool
	of     string          // the schema, in words
	schema json.RawMessage // nil: it says nothing
	tool   bool            // an artifact is handed over in the form that the tool takes
}

func (b *builder) taker(s agent.Step) taker {
	if s.Action.Value != "" {
		t, _ := b.plan.Tool(s.Action.Value)
		return taker{"the tool " + s.Action.Value, "the tool's inputSchema", t.Part("inputSchema"), true}
	}
	from, _ := b.bundle(s.Skill.Value)
	return taker{"the skill " + from.pin.Name, "the skill's input_schema", from.pin.InputSchema, false}
}

// places lists the shapes that a skill has for the places at which a text stands in `with`.
func places(v any, s *shape, text string) (out []*shape) {
	switch t := v.(type) {
	case string:
		if t == text {
			return []*shape{s}
		}
	case []any:
		for _, e := range t {
			out = append(out, places(e, s.element(), text)...)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(t)) {
			sub, _, _ := s.property(key)
			out = append(out, places(t[key], sub, text)...)
		}
	}
	return out
}

// flowOf checks the references of one text.
func (b *builder) flowOf(t agent.Text, to taker, takes []*shape) {
	refs, err := plan.Refs(t.Value)
	if err != nil || len(refs) == 0 {
		return // the walk over edges tells it
	}
	whole := len(refs) == 1 && strings.HasPrefix(t.Value, "${{") && strings.Index(t.Value, "}}") == len(t.Value)-2
	if !whole {
		b.fits(t.Pos, "this text", &shape{node: map[string]any{"type": "string"}}, to, takes)
	}
	for _, r := range refs {
		got, err := b.gives(r, to).follow(r.Path)
		at := t.At(r.Offset)
		switch {
		case err != nil:
			b.fail(at, "%s: %v", r, err)
		case whole:
			b.fits(at, r.String(), got, to, takes)
		case !got.may("string") && !got.may("number") && !got.may("integer") && !got.may("boolean"):
			b.fail(at, "%s is %s and cannot stand inside a text", r, strings.Join(got.types(), " or ")).WithHint("let the reference be the whole value")
		}
	}
}

// gives is the shape of what a reference begins at, for who takes it.
func (b *builder) gives(r plan.Ref, to taker) *shape {
	switch r.Root {
	case plan.RootInputs:
		s := shapeOf(b.plan.Inputs)
		if s != nil && len(r.Path) > 0 {
			if _, known, _ := s.property(r.Path[0].Key); !known {
				return nil // the walk over edges tells it
			}
		}
		return s
	case plan.RootArtifacts:
		if to.tool {
			return nil
		}
		return &shape{node: map[string]any{"type": "string"}}
	}
	step, _ := b.plan.Step(r.Step)
	from, ok := b.bundle(step.Skill)
	if !ok {
		return nil
	}
	return shapeOf(from.pin.OutputSchema)
}

func (b *builder) fits(at agent.Pos, what string, got *shape, to taker, takes []*shape) {
	for _, want := range takes {
		if !want.fits(got) {
			b.fail(at, "%s is %s, and %s takes %s here", what, strings.Join(got.types(), " or "), to.of, strings.Join(want.types(), " or "))
			return
		}
	}
}

// whole are the keywords that judge an object by all its keys; they wait for the run where some values come from
// references.
var whole = []string{
	"required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies", "allOf", "anyOf",
	"oneOf", "not", "if", "then", "else", "unevaluatedProperties", "const", "enum", "$ref", "$dynamicRef", "propertyNames",
}

// constants checks `with` of a step against the schema of what it is handed to, as far as it is written out.
func (b *builder) constants(s agent.Step, to taker) {
	var with map[string]json.RawMessage
	var rules map[string]json.RawMessage
	if to.schema == nil || json.Unmarshal(s.With.JSON, &with) != nil || json.Unmarshal(to.schema, &rules) != nil {
		return
	}
	takes := shapeOf(to.schema)
	fixed := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(with)) {
		if refs, err := plan.StepRefs(json.RawMessage(fmt.Sprintf(`{"v":%s}`, with[key]))); err == nil && len(refs) == 0 {
			fixed[key] = with[key]
			continue
		}
		if _, known, closed := takes.property(key); !known {
			b.unknown(s, to, key, closed)
		}
	}
	var required []string
	if json.Unmarshal(rules["required"], &required) == nil {
		for _, key := range required {
			if _, ok := with[key]; !ok {
				b.fail(s.With.Pos, "step %s: %s requires the input %q", s.ID, to.what, key).
					WithHint("with: {%s: …}", key)
				return
			}
		}
	}
	if len(fixed) < len(with) {
		for _, key := range whole {
			delete(rules, key)
		}
	}
	if err := check(rules, fixed); err != nil {
		b.fail(s.With.Pos, "step %s: %s does not take this: %v", s.ID, to.what, err)
	}
}

func (b *builder) unknown(s agent.Step, to taker, key string, closed []string) {
	b.fail(s.With.Pos, "step %s: %s takes no input %q", s.ID, to.what, key).Hint = agent.DidYouMean(key, closed)
}

// check is what the rules have against an object. Rules that are no schema are told elsewhere.
func check(rules, object map[string]json.RawMessage) error {
	raw, err := json.Marshal(rules)
	value, err2 := json.Marshal(object)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	compiled, err := schema.Compile(raw)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return compiled.Check(value)
}
