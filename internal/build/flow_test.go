package build

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
)

// typed is a project of two skills: make, whose output is described, and take, whose input is.
func typed(in, out, with string) string {
	return "-- joy.yaml --\nversion: 1\nname: a\nskills: [make, take]\ninputs: {type: object, properties: {n: {type: integer}, any: {}}}\n" +
		"steps:\n  - {id: m, skill: make}\n  - {id: t, skill: take, with: " + with + "}\n" +
		"-- make/SKILL.md --\n---\nname: make\ndescription: d\noutput_schema: " + out + "\n---\nMakes.\n" +
		"-- take/SKILL.md --\n---\nname: take\ndescription: d\ninput_schema: " + in + "\n---\nTakes.\n"
}

const (
	anything = "{}"
	takesN   = "{type: object, required: [n], additionalProperties: false, properties: {n: {type: integer, minimum: 1}, tags: {type: array, items: {type: string}}, o: {$ref: '#/$defs/o'}}, $defs: {o: {type: object, properties: {s: {type: string}}}}}"
	makes    = "{type: object, additionalProperties: false, properties: {n: {type: integer}, f: {type: number}, s: {type: string}, list: {type: array, items: {type: object, properties: {x: {type: string}}, additionalProperties: false}}, open: {type: object}, maybe: {type: [string, 'null']}, either: {anyOf: [{type: string}]}, r: {$ref: '#/$defs/r'}, loop: {$ref: '#/$defs/loop'}}, $defs: {r: {type: boolean}, loop: {$ref: '#/$defs/loop'}}}"
)

func TestWhatCannotFit(t *testing.T) {
	for _, tc := range []struct{ in, out, with, place, want string }{
		{takesN, anything, "{}", "joy.yaml:7:32", `requires the input "n"`},
		{takesN, anything, "{n: 0}", "joy.yaml:7:32", "minimum"},
		{takesN, anything, "{n: x}", "joy.yaml:7:32", "want integer"},
		{takesN, anything, "{n: 1, m: 2}", "joy.yaml:7:32", "m"},
		{takesN, anything, "{n: '${{ inputs.n }}', m: 2}", "joy.yaml:7:32", "m"},
		{takesN, anything, "{n: 1, tag: '${{ inputs.any }}'}", "joy.yaml:7:32", `takes no input "tag"`},
		{takesN, anything, "{n: '${{ inputs.n }}', tags: [1]}", "joy.yaml:7:32", "want string"},
		{takesN, anything, "{n: '${{ inputs.n }}', o: {s: 1}}", "joy.yaml:7:32", "want string"},
		{takesN, anything, "{n: 'a ${{ inputs.n }}'}", "joy.yaml:7:36", "this text is string, and the skill's input_schema takes integer here"},
		{takesN, makes, "{n: '${{ steps.m.output.s }}'}", "joy.yaml:7:37", "steps.m.output.s is string, and the skill's input_schema takes integer here"},
		{takesN, makes, "{n: \"${{ steps.m.artifacts['x'] }}\"}", "joy.yaml:7:36", "takes integer here"},
		{takesN, makes, "{n: 1, tags: ['${{ steps.m.output.n }}']}", "joy.yaml:7:47", "takes string here"},
		{takesN, makes, "{n: 1, o: {s: '${{ steps.m.output.list }}'}}", "joy.yaml:7:47", "is array, and"},
		{anything, makes, "{x: '${{ steps.m.output.m }}'}", "joy.yaml:7:37", `it has no "m"`},
		{anything, makes, "{x: '${{ steps.m.output.n.deep }}'}", "joy.yaml:7:37", "n is integer, with nothing of that name in it"},
		{anything, makes, "{x: '${{ steps.m.output[0] }}'}", "joy.yaml:7:37", "it is object"},
		{anything, makes, "{x: '${{ steps.m.output.list.x }}'}", "joy.yaml:7:37", "list is array"},
		{anything, makes, "{x: '${{ steps.m.output.list[0].y }}'}", "joy.yaml:7:37", `list[0] has no "y"`},
		{anything, makes, "{x: 'see ${{ steps.m.output.list }}'}", "joy.yaml:7:41", "cannot stand inside a text"},
		{anything, makes, "{x: '${{ steps.m.output.r.x }}'}", "joy.yaml:7:37", "r is boolean"},
		{anything, makes, "{x: '${{ inputs.n.x }}'}", "joy.yaml:7:37", "n is integer"},
	} {
		_, err := Build(context.Background(), Options{FS: project(typed(tc.in, tc.out, tc.with))})
		require.Error(t, err, tc.with)
		f := fault.All(err)[0]
		require.Contains(t, f.Error(), tc.want, tc.with)
		require.Equal(t, tc.place, f.Place(), tc.with)
	}
}

func TestWhatMayFit(t *testing.T) {
	for _, tc := range []struct{ in, out, with string }{
		{takesN, makes, "{n: 1}"},
		{takesN, makes, "{n: '${{ steps.m.output.n }}', tags: [a], o: {s: '${{ steps.m.output.s }}', t: 1}}"},
		{takesN, makes, "{n: '${{ steps.m.output.f }}'}"}, // a number may be an integer
		{takesN, makes, "{n: 1, tags: ['${{ steps.m.output.maybe }}', 'x ${{ steps.m.output.n }}', '${{ steps.m.output.either }}']}"},
		{anything, makes, "{x: '${{ steps.m.output.open.a.b[3] }}', y: '${{ steps.m.output.either.x }}', z: '${{ steps.m.output.loop.x }}'}"},
		{anything, makes, "{x: '${{ steps.m.output.list[7].x }} of ${{ steps.m.output.r }}'}"},
		{anything, anything, "{x: '${{ steps.m.output.whatever[0] }}'}"},
		{"{type: object, anyOf: [{required: [a]}, {required: [b]}]}", anything, "{b: '${{ inputs.any }}', c: 1}"},
		{"{type: object, properties: {a: {not: {type: string}}}}", anything, "{a: '${{ inputs.any }}'}"},
		{"{type: object, patternProperties: {'^x': {}}, additionalProperties: false}", anything, "{x1: '${{ inputs.any }}'}"},
		{"{type: object, additionalProperties: {type: integer}}", makes, "{k: '${{ steps.m.output.n }}'}"},
	} {
		_, err := Build(context.Background(), Options{FS: project(typed(tc.in, tc.out, tc.with))})
		require.NoError(t, err, tc.with)
	}
}

// FuzzShape: schemas that strangers write end, and are never certain of what does not hold.
func FuzzShape(f *testing.F) {
	f.Add(`{"$ref":"#"}`, "a.b")
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "a")
	f.Add(`{"properties":{"a":{"items":{"$ref":"#"}}}}`, "a.a")
	f.Add(`{"$ref":"#/~1~0/x","type":[1,null]}`, "")
	f.Fuzz(func(t *testing.T, raw, path string) {
		s := shapeOf([]byte(raw))
		for _, key := range strings.Split(path, ".") {
			sub, _, _ := s.property(key)
			_, _ = sub.types(), sub.element()
			s = sub
		}
		require.True(t, s.fits(nil))
	})
}
