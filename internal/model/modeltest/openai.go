package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/stretchr/testify/assert"
)

// completions is OpenAI's form (https://platform.openai.com/docs/api-reference/chat-streaming).
type completions struct{}

func (completions) check(t assert.TestingT, r *http.Request, body []byte) bool {
	var q struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role       string
			ToolCallID string                `json:"tool_call_id"`
			ToolCalls  []struct{ ID string } `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return assert.Fail(t, "the request is not JSON: "+err.Error())
	}
	ok := assert.Equal(t, "/v1/chat/completions", r.URL.Path) && assert.NotEmpty(t, q.Model) && assert.True(t, q.Stream)
	open := map[string]bool{}
	for _, m := range q.Messages {
		if m.Role == "tool" {
			ok = ok && assert.True(t, open[m.ToolCallID], "a result of a call that was made")
			delete(open, m.ToolCallID)
			continue
		}
		ok = ok && assert.Empty(t, open, "every call has its result before the next turn")
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	return ok && assert.Empty(t, open)
}

func (completions) answer(w io.Writer, n int, r Reply) {
	chunk := func(fields map[string]any) {
		fields["id"], fields["object"], fields["model"] = fmt.Sprintf("chatcmpl-%d", n), "chat.completion.chunk", "gpt-test-1"
		b, _ := json.Marshal(fields)
		fmt.Fprintf(w, "data: %s\n\n", b)
	}
	delta := func(d map[string]any, finish any) {
		chunk(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d, "finish_reason": finish}}})
	}
	delta(map[string]any{"role": "assistant"}, nil)
	if r.Hang {
		return
	}
	for _, half := range r.pieces(r.Text) {
		delta(map[string]any{"content": half}, nil)
	}
	if r.Cut {
		return
	}
	for i, c := range r.Calls {
		delta(map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""},
		}}}, nil)
		for _, half := range r.pieces(c.Input) {
			delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": half}}}}, nil)
		}
	}
	if r.Unended {
		return
	}
	stop := r.Stop
	if stop == "" {
		stop = "stop"
		if len(r.Calls) > 0 {
			stop = "tool_calls"
		}
	}
	delta(map[string]any{}, stop)
	chunk(map[string]any{"choices": []any{}, "usage": map[string]any{
		"prompt_tokens": r.In + 7, "completion_tokens": r.Out, "total_tokens": r.In + r.Out + 7, "prompt_tokens_details": map[string]any{"cached_tokens": 7},
	}})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (completions) problem(status int) string {
	return fmt.Sprintf(`{"error":{"type":"test_error","code":null,"param":null,"message":"the test says %d"}}`, status)
}
