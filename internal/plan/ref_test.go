package plan

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBrokenReferences(t *testing.T) {
	for s, offset := range map[string]int{
		"${{":                              3,
		"${{ }}":                           4,
		"ab ${{ x }}":                      7,
		"${{ env.HOME }}":                  4,
		"${{ inputs.a":                     12,
		"${{ inputs.a } }":                 13,
		"${{ inputs. }}":                   11,
		"${{ inputs.a b }}":                13,
		"${{ inputs[-1] }}":                10,
		"${{ inputs[01] }}":                10,
		"${{ inputs[9999999] }}":           10,
		"${{ inputs[''] }}":                10,
		"${{ inputs['a] }}":                10,
		"${{ inputsx }}":                   10,
		"${{ steps.a }}":                   11,
		"${{ steps.A.output }}":            10,
		"${{ steps. }}":                    10,
		"${{ steps.a.outputs }}":           18,
		"${{ steps.a.artifacts }}":         21,
		"${{ steps.a.artifacts.x }}":       21,
		"${{ steps.a.artifacts['../x'] }}": 29,
		"${{ steps.a.artifacts['x'].y }}":  26,
		"${{ inputs.a }} ${{ steps }}":     20,
		"${{ inputs.a || inputs.b }}":      13,
	} {
		_, err := Refs(s)
		var re *RefError
		require.ErrorAs(t, err, &re, s)
		require.Equal(t, offset, re.Offset, "%s: %v", s, err)
	}
}

func TestReferences(t *testing.T) {
	for s, want := range map[string][]string{
		"plain $ {{ }} $${{ x }}":                   nil,
		"${{inputs}}":                               {"inputs"},
		"${{ inputs.a.b[0].c-d }}":                  {"inputs.a.b[0].c-d"},
		`${{ inputs["odd key"].x['y'] }}`:           {"inputs['odd key'].x.y"},
		"${{ steps.a-1.output }}":                   {"steps.a-1.output"},
		"${{ steps.a.artifacts['x y/z.pdf'] }}":     {"steps.a.artifacts['x y/z.pdf']"},
		"a ${{ inputs.a }}${{ steps.b.output[3] }}": {"inputs.a", "steps.b.output[3]"},
		"$$${{ inputs }} ${{ inputs.a }}":           {"inputs.a"},
	} {
		refs, err := Refs(s)
		require.NoError(t, err, s)
		var got []string
		for _, r := range refs {
			got = append(got, r.String())
		}
		require.Equal(t, want, got, s)
	}
}

func known(r Ref) (any, error) {
	switch {
	case r.Root == RootInputs:
		return json.RawMessage(`{"n":9007199254740993,"f":1.50,"s":"a<b","t":true,"z":null,"l":[1,{"k":2}],"o":{"k":"v"}}`), nil
	case r.Root == RootArtifacts:
		return ArtifactRef{Step: r.Step, Name: r.Artifact, Size: 3}, nil
	case r.Step == "later":
		return Symbol("steps.later.output"), nil
	}
	return nil, errors.New("it did not run")
}

func TestResolve(t *testing.T) {
	for with, want := range map[string]string{
		`{"a":"${{ inputs.n }}"}`:                               `{"a":9007199254740993}`,
		`{"a":"n=${{ inputs.n }} f=${{ inputs.f }}"}`:           `{"a":"n=9007199254740993 f=1.50"}`,
		`{"a":["${{ inputs.l }}","${{ inputs.o }}"]}`:           `{"a":[[1,{"k":2}],{"k":"v"}]}`,
		`{"a":"${{ inputs.l[1].k }}","b":"${{ inputs.z }}"}`:    `{"a":2,"b":null}`,
		`{"a":"${{ inputs.t }}!","b":"$${{ inputs.t }}"}`:       `{"a":"true!","b":"${{ inputs.t }}"}`,
		`{"a":"${{ steps.r.artifacts['a b.csv'] }}"}`:           `{"a":"/workspace/in/r/a b.csv"}`,
		`{"a":"cat ${{ steps.r.artifacts['x'] }}"}`:             `{"a":"cat /workspace/in/r/x"}`,
		`{"a":"${{ steps.later.output.total[0] }}"}`:            `{"a":"<steps.later.output.total[0]>"}`,
		`{"a":"of ${{ steps.later.output['odd key'] }}","b":1}`: `{"a":"of <steps.later.output['odd key']>","b":1}`,
		`{"a":"${{ inputs.x }}","b":"${{ inputs.x.y }}"}`:       `{}`,
		`{"a":"${{ inputs.s }}","b":1.0,"c":""}`:                `{"a":"a<b","b":1.0,"c":""}`,
	} {
		v, err := Resolve(json.RawMessage(with), known)
		require.NoError(t, err, with)
		got, err := plainJSON(v)
		require.NoError(t, err)
		require.Equal(t, want, string(got), with)
	}
}

func TestResolveSaysWhatIsMissing(t *testing.T) {
	for with, want := range map[string]string{
		`{"a":"${{ inputs.o.x }}"}`:        `inputs.o.x: inputs.o has no "x"; it has k`,
		`{"a":"see ${{ inputs.x }}"}`:      "inputs.x: the run was not given it, and it stands inside a text",
		`{"a":["${{ inputs.x }}"]}`:        "inputs.x: the run was not given it",
		`{"a":"${{ inputs.o.k.j }}"}`:      "inputs.o.k is a plain value",
		`{"a":"${{ inputs.l.k }}"}`:        "inputs.l is a list, not an object",
		`{"a":"${{ inputs.o[0] }}"}`:       "inputs.o is an object, not a list",
		`{"a":"${{ inputs.l[2] }}"}`:       "has 2 elements, none at [2]",
		`{"a":"x ${{ inputs.l }}"}`:        "inputs.l is a list and cannot stand inside a text",
		`{"a":"x ${{ inputs.o }}"}`:        "an object and cannot",
		`{"a":"x ${{ inputs.z }}"}`:        "null and cannot",
		`{"a":"${{ steps.gone.output }}"}`: "look up steps.gone.output: it did not run",
		`{"a":"${{ x }}"}`:                 "a reference is",
		`{"a":1`:                           "read with",
		`{} {}`:                            "more follows",
	} {
		_, err := Resolve(json.RawMessage(with), known)
		require.ErrorContains(t, err, want, with)
	}
}

// FuzzRefs: no panic, an error lies inside the string, and the spelling of a reference reads as itself.
func FuzzRefs(f *testing.F) {
	for _, s := range []string{"${{ inputs.a[0]['b'] }}", "$${{", "a ${{ steps.x.artifacts['é'] }} b", "${{ steps.a.output.b }}${{"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		refs, err := Refs(s)
		var re *RefError
		if errors.As(err, &re) {
			require.True(t, re.Offset >= 0 && re.Offset <= len(s))
			return
		}
		for _, r := range refs {
			again, err := Refs("${{ " + r.String() + " }}")
			if err != nil { // a key with a single quote has no spelling in single quotes
				require.Contains(t, s, "'")
				continue
			}
			require.Equal(t, r.Path, again[0].Path)
		}
	})
}
