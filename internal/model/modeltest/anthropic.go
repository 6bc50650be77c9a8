package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// Signature is that of every thought. The API refuses a thought that comes back without it, or changed
// (https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks).
const Signature = "EqQBCgIYAhIM/+test=="

// messages is Anthropic's form (https://platform.claude.com/docs/en/build-with-claude/streaming).
type messages struct{}

func (messages) check(t assert.TestingT, r *http.Request, body []byte) bool {
	var q struct {
		Model     string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
		Messages  []struct {
			Role    string
			Content []struct {
				Type      string
				ID        string
				ToolUseID string `json:"tool_use_id"`
			}
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return assert.Fail(t, "the request is not JSON: "+err.Error())
	}
	ok := assert.Equal(t, "/v1/messages", r.URL.Path) && assert.NotEmpty(t, r.Header.Get("Anthropic-Version")) &&
		assert.NotEmpty(t, q.Model) && assert.Positive(t, q.MaxTokens) && assert.True(t, q.Stream)
	open := map[string]bool{}
	for i, m := range q.Messages {
		ok = ok && assert.Equal(t, []string{"user", "assistant"}[i%2], m.Role, "roles alternate")
		for _, c := range m.Content {
			switch c.Type {
			case "tool_use":
				open[c.ID] = true
			case "tool_result":
				ok = ok && assert.True(t, open[c.ToolUseID], "a result of a call that was made")
				delete(open, c.ToolUseID)
			}
		}
		if m.Role == "user" {
			ok = ok && assert.Empty(t, open, "every call has its result in the next turn")
		}
	}
	return ok
}

func (messages) answer(w io.Writer, n int, r Reply) {
	event := func(kind string, fields map[string]any) {
		fields["type"] = kind
		b, _ := json.Marshal(fields)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, b)
	}
	event("message_start", map[string]any{"message": map[string]any{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": "claude-test-1", "content": []any{},
		"usage": map[string]any{"input_tokens": r.In, "output_tokens": 1, "cache_read_input_tokens": 7, "cache_creation_input_tokens": 3},
	}})
	if r.Hang {
		return
	}
	index := 0
	block := func(start map[string]any, deltas ...map[string]any) {
		event("content_block_start", map[string]any{"index": index, "content_block": start})
		for _, d := range deltas {
			event("content_block_delta", map[string]any{"index": index, "delta": d})
		}
		event("content_block_stop", map[string]any{"index": index})
		index++
	}
	if r.Think != "" {
		block(map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			map[string]any{"type": "thinking_delta", "thinking": r.Think}, map[string]any{"type": "signature_delta", "signature": Signature})
	}
	var text []map[string]any
	for _, half := range r.pieces(r.Text) {
		text = append(text, map[string]any{"type": "text_delta", "text": half})
	}
	block(map[string]any{"type": "text", "text": ""}, text...)
	if r.Cut {
		return
	}
	for i, c := range r.Calls {
		var parts []map[string]any
		for _, half := range r.pieces(c.Input) {
			parts = append(parts, map[string]any{"type": "input_json_delta", "partial_json": half})
		}
		block(map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d_%d", n, i), "name": c.Name, "input": map[string]any{}}, parts...)
	}
	stop := r.Stop
	if stop == "" {
		stop = "end_turn"
		if len(r.Calls) > 0 {
			stop = "tool_use"
		}
	}
	event("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": map[string]any{"output_tokens": r.Out}})
	if !r.Unended {
		event("message_stop", map[string]any{})
	}
}

func (messages) problem(status int) string {
	return fmt.Sprintf(`{"type":"error","error":{"type":"test_error","message":"the test says %d"}}`, status)
}

// pieces cuts a text, between characters.
func (r Reply) pieces(s string) (list []string) {
	n := r.Piece
	if n == 0 {
		n = max(1, len(s)/2)
	}
	for len(s) > 0 {
		k := min(n, len(s))
		for k < len(s) && !utf8.RuneStart(s[k]) {
			k++
		}
		list, s = append(list, s[:k]), s[k:]
	}
	return list
}
