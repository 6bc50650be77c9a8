package schema

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompileRefuses(t *testing.T) {
	for name, tc := range map[string]struct{ schema, want string }{
		"not JSON":       {`{`, "EOF"},
		"wrong type":     {`{"type": 5}`, "the schema"},
		"remote ref":     {`{"$ref": "https://example.com/s.json"}`, "leads out of the schema"},
		"file ref":       {`{"$ref": "file:///etc/passwd"}`, "leads out of the schema"},
		"relative ref":   {`{"$ref": "other.json"}`, "leads out of the schema"},
		"dangling local": {`{"$ref": "#/$defs/none"}`, "the schema"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(tc.schema))
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestCheck(t *testing.T) {
	const schema = `{"type": "object", "required": ["week"], "additionalProperties": false,
		"properties": {"week": {"type": "string", "pattern": "^W[0-9]+$"}, "n": {"type": "integer", "maximum": 9}}}`
	for name, tc := range map[string]struct{ value, want string }{
		"missing":       {`{}`, "week"},
		"wrong type":    {`{"week": 5}`, "week: got number, want string"},
		"pattern":       {`{"week": "x"}`, "does not match"},
		"unknown":       {`{"week": "W1", "other": 1}`, "other"},
		"number":        {`{"week": "W1", "n": 10}`, "n: maximum"},
		"not an object": {`[]`, "want object"},
		"not JSON":      {`{"week"`, "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Compile(json.RawMessage(schema))
			require.NoError(t, err)
			require.ErrorContains(t, s.Check(json.RawMessage(tc.value)), tc.want)
		})
	}
	s, err := Compile(json.RawMessage(schema))
	require.NoError(t, err)
	require.NoError(t, s.Check(json.RawMessage(`{"week": "W1", "n": 9}`)))
	everything, err := Compile(nil)
	require.NoError(t, err)
	require.NoError(t, everything.Check(json.RawMessage(`[1, null]`)))
}
