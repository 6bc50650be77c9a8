package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithout(t *testing.T) {
	for name, tc := range map[string]struct{ in, want, err string }{
		"of both":          {in: `{"type":"object","properties":{"a":{"x":1.0},"b":{}},"required":["b","a"]}`, want: `{"properties":{"a":{"x":1.0}},"required":["a"],"type":"object"}`},
		"of none":          {in: `{"type":"object"}`, want: `{"type":"object"}`},
		"no schema":        {in: ``, want: `{}`},
		"large numbers":    {in: `{"properties":{"a":{"maximum":18446744073709551615}}}`, want: `{"properties":{"a":{"maximum":18446744073709551615}}}`},
		"signs":            {in: `{"description":"a < b & c"}`, want: `{"description":"a < b & c"}`},
		"one of":           {in: `{"oneOf":[{"required":["b"]}]}`, err: "oneOf at its top"},
		"a reference":      {in: `{"$ref":"#/$defs/x","$defs":{"x":{}}}`, err: "$ref at its top"},
		"dependent":        {in: `{"dependentRequired":{"a":["b"]}}`, err: "dependentRequired at its top"},
		"a list":           {in: `[]`, err: "not an object"},
		"true":             {in: `true`, err: "not an object"},
		"odd properties":   {in: `{"properties":[]}`, err: "the schema's properties"},
		"odd requirements": {in: `{"required":{}}`, err: "what the schema requires"},
		"deeper is its own": {
			in: `{"properties":{"a":{"properties":{"b":{}},"required":["b"]}}}`, want: `{"properties":{"a":{"properties":{"b":{}},"required":["b"]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Without(json.RawMessage(tc.in), []string{"b"})
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.want, string(got))
		})
	}
}
