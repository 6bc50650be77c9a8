package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/schema"
)

// grants holds the pinned tools to what is asked of them: their schemas can be judged by, and what a grant fixes is an
// argument that the tool has, with a value it takes.
func (b *builder) grants() {
	told := map[string]bool{}
	for _, action := range b.granted() {
		t, pinned := b.plan.Tool(action.Value)
		if !pinned || told[action.Value] {
			continue
		}
		told[action.Value] = true
		if err := checkSchema(t.Part("inputSchema")); err != nil {
			b.errs = append(b.errs, b.broken(action, fmt.Errorf("its inputSchema is not a JSON Schema: %w", err)))
		}
	}
	for _, s := range b.spec.Steps {
		for _, g := range s.Tools {
			if t, ok := b.plan.Tool(g.Action.Value); ok {
				b.fixed(s, g, t.Part("inputSchema"))
			}
		}
	}
}

// fixed checks the arguments that a grant fixes.
func (b *builder) fixed(s agent.Step, g agent.Grant, rules json.RawMessage) {
	var with map[string]json.RawMessage
	if json.Unmarshal(g.With.JSON, &with) != nil || len(with) == 0 {
		return
	}
	known := properties(rules)
	for _, key := range slices.Sorted(maps.Keys(with)) {
		if !slices.Contains(known, key) {
			b.fail(g.With.Pos, "step %s: %s has no argument %q to fix", s.ID, g.Action.Value, key).Hint = agent.DidYouMean(key, known)
			return
		}
	}
	if _, err := schema.Without(rules, slices.Sorted(maps.Keys(with))); err != nil {
		b.fail(g.With.Pos, "step %s: %s: %v", s.ID, g.Action.Value, err).WithHint("leave `with` out of the grant, or call the tool in a step of its own")
		return
	}
	if err := fixable(rules, with); err != nil {
		b.fail(g.With.Pos, "step %s: %s does not take what the grant fixes: %v", s.ID, g.Action.Value, err)
	}
}

// fixable judges the fixed arguments each by itself: the others come with the call.
func fixable(rules json.RawMessage, with map[string]json.RawMessage) error {
	var parts map[string]json.RawMessage
	if json.Unmarshal(rules, &parts) != nil {
		return nil //nolint:nilerr // told with the schema
	}
	for _, key := range whole {
		delete(parts, key)
	}
	return check(parts, with)
}
