package model_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/openai"
)

// carrier answers every request with the same bytes.
type carrier []byte

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(c)),
	}, nil
}

// converse holds what is promised of a reply, and that a conversation goes on after it.
func converse(t *testing.T, m model.Model) {
	c := m.Begin(task)
	reply, x, err := c.Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
	require.GreaterOrEqual(t, x.Attempts, 1)
	require.GreaterOrEqual(t, min(reply.Usage.In, reply.Usage.Out, reply.Usage.CacheRead, reply.Usage.CacheWrite), int64(0))
	require.Positive(t, reply.Usage.Total())
	if err != nil {
		return
	}
	turn := model.Turn{MaxTokens: 100}
	ids := map[string]bool{}
	for _, call := range reply.Calls {
		require.False(t, call.ID == "" || ids[call.ID])
		ids[call.ID] = true
		turn.Results = append(turn.Results, model.Result{Call: call.ID, Text: "ok"})
	}
	require.Contains(t, []model.Stop{model.End, model.Calls, model.Length, model.Refusal}, reply.Stop)
	if reply.Stop == model.End {
		turn.Text = "Go on."
	}
	require.Equal(t, reply.Stop == model.Calls || reply.Stop == model.Length || reply.Stop == model.Refusal, turn.Text == "")
	_, x, _ = c.Say(t.Context(), turn)
	require.GreaterOrEqual(t, x.Attempts, 1, "what was said can be said again")
	require.NotEmpty(t, x.Request)
}

func FuzzAnthropicStream(f *testing.F) {
	f.Add([]byte(message(`"input_tokens":5`) + toolBlock(0, "a") + messageEnd("tool_use", `"output_tokens":3`)))
	f.Add([]byte(message(`"input_tokens":-5`) + messageEvent("content_block_start", `,"index":0,"content_block":{"type":"text","text":"a"}`) +
		messageEvent("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"b\ud800"}`) + messageEnd("end_turn", "")))
	f.Add([]byte(message("") + messageEvent("content_block_start", `,"index":0,"content_block":{"type":"thinking","thinking":"","signature":""}`) +
		messageEvent("content_block_delta", `,"index":0,"delta":{"type":"signature_delta","signature":"x"}`) + messageEvent("content_block_stop", `,"index":0`) + messageEnd("max_tokens", "")))
	f.Add([]byte(message("") + messageEvent("content_block_start", `,"index":0,"content_block":{"type":"tool_use","id":"a","name":"run","input":{}}`) +
		messageEvent("content_block_delta", `,"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a"}`) + messageEnd("tool_use", "")))
	f.Add([]byte(messageEvent("error", `,"error":{"type":"overloaded_error","message":"m"}`)))
	f.Fuzz(func(t *testing.T, body []byte) {
		converse(t, anthropic.New("m", "http://127.0.0.1:1", model.Wire{Base: carrier(body)}))
	})
}

func FuzzOpenAIStream(f *testing.F) {
	f.Add([]byte(callPart(0, "a", "run") + callPart(1, "b", "run") + chunk("", `"tool_calls"`) + usageChunk(`"prompt_tokens":1,"completion_tokens":2`) + "data: [DONE]\n\n"))
	f.Add([]byte(callPart(0, "", "run") + callPart(0, "", "") + callPart(0, "", "run") + chunk(`"content":"x"`, `"stop"`)))
	f.Add([]byte(chunk(`"content":"x","refusal":"no"`, `"content_filter"`) + usageChunk(`"prompt_tokens":-1`)))
	f.Add([]byte(chunk(`"content":"x"`, "null")))
	f.Add([]byte(`data: {"error":{"message":"m"}}` + "\n\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		converse(t, openai.New("m", "http://127.0.0.1:1/v1", model.Wire{Base: carrier(body)}))
	})
}
