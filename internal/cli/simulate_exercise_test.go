package cli

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever a fixture is, it is refused, or a result that a server could have sent: JSON with content, and nothing lost.
func FuzzFixture(f *testing.F) {
	for _, s := range []string{
		`41`, `{"content": [{"type": "text", "text": "a"}], "isError": true}`, `{"structuredContent": {"n": 1}}`, `{"content": "text"}`,
		`{"content": null}`, `{"content": [], "isError": "yes"}`, "\"\xff\"", `[[[[`, `{"a":1,"a":2}`, `1 2`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := asResult(body)
		if err != nil {
			require.Empty(t, got.Raw)
			return
		}
		var result struct {
			Content           []json.RawMessage `json:"content"`
			StructuredContent json.RawMessage   `json:"structuredContent"`
		}
		require.NoError(t, json.Unmarshal(got.Raw, &result))
		require.True(t, len(result.Content) > 0 || result.StructuredContent != nil || result.Content != nil)
		var compact string
		var text struct{ Text *string }
		if len(result.Content) == 1 && json.Unmarshal(result.Content[0], &text) == nil && text.Text != nil {
			compact = *text.Text
		}
		require.True(t, json.Valid(body))
		if string(got.Raw) != string(body) && compact == "" {
			require.JSONEq(t, string(body), string(got.Raw))
		}
	})
}
