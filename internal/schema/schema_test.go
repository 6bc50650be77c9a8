package schema

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

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

// What is said of a value stays short, however long the value is.
func TestCheckIsBrief(t *testing.T) {
	long := strings.Repeat("é", 1<<20)
	for name, schema := range map[string]string{
		"value": `{"additionalProperties": {"type": "string", "pattern": "^x$"}}`,
		"key":   `{"additionalProperties": false}`,
		"place": `{"additionalProperties": {"type": "integer"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			value, err := json.Marshal(map[string]string{long: long})
			require.NoError(t, err)
			s, err := Compile(json.RawMessage(schema))
			require.NoError(t, err)
			err = s.Check(value)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 5*(maxWhere+maxWhat+10))
			require.True(t, utf8.ValidString(err.Error()))
		})
	}
}

// A schema that refers to itself is either refused or ends.
func TestCheckEnds(t *testing.T) {
	s, err := Compile(json.RawMessage(`{"$ref": "#"}`))
	if err == nil {
		err = s.Check(json.RawMessage(`{}`))
	}
	require.Error(t, err)
}

// Bundles bring their own schemas: whatever they write, Compile and Check return.
func FuzzSchema(f *testing.F) {
	for _, s := range []string{
		`{}`, `true`, `{"type": "object", "required": ["a"]}`, `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#"}}}`,
		`{"pattern": "(?=x)"}`, `{"$id": "https://example.com/", "$ref": "x"}`, `{"$schema": "https://example.com/s"}`,
		`{"if": {"const": 1}, "then": false}`, `{"multipleOf": 0}`, `{"uniqueItems": true, "contains": {"type": "null"}}`,
	} {
		f.Add([]byte(s), []byte(`{"a": [1, 1, "x"]}`))
	}
	f.Fuzz(func(_ *testing.T, schema, value []byte) {
		s, err := Compile(schema)
		if err == nil {
			_ = s.Check(value)
		}
	})
}
