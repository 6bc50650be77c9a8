package model_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/modeltest"
	"github.com/joystream-ai/joy/internal/model/openai"
)

// wide has members that a map would give in another order each time.
var wide = model.Task{System: "Be brief.", Tools: []model.Tool{{Name: "run", Input: json.RawMessage(
	`{"type":"object","properties":{"a":{"type":"integer","minimum":1},"b":{"type":"number","maximum":1.50},"c":{},"d":{}},"required":["a"],` +
		`"additionalProperties":false,"title":"t","description":"d","$comment":"c"}`)}}}

// The same conversation is the same bytes, and each request begins as the one before.
func TestRequestsGrow(t *testing.T) {
	each(t, []modeltest.Reply{{Text: "Yes <&>?"}}, func(t *testing.T, m model.Model, s *modeltest.Server) {
		for range 12 {
			c := m.Begin(wide)
			for _, text := range []string{"Hello?", "Who is there?", "Really?"} {
				_, _, err := c.Say(t.Context(), model.Turn{Text: text, MaxTokens: 100})
				require.NoError(t, err)
			}
		}
		asked := s.Requests()
		for i, r := range asked {
			require.Equal(t, string(asked[i%3].Body), string(r.Body))
			end := bytes.LastIndexByte(r.Body, ']')
			if i%3 < 2 {
				require.True(t, bytes.HasPrefix(asked[i+1].Body, r.Body[:end]))
			}
		}
	})
}

// answered is a wire that carries nothing: it answers with bodies, in their order.
type answered struct{ bodies [][]byte }

func (c *answered) RoundTrip(r *http.Request) (*http.Response, error) {
	body := c.bodies[0]
	c.bodies = c.bodies[1:]
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
}

// What is kept of requests is what somebody would send who was answered with what is kept of the answers; the model itself goes on
// from what it said.
func TestKeptIsWhatAReplaySends(t *testing.T) {
	turns := []model.Turn{{Text: "Say it."}, {Results: []model.Result{{Text: "ok"}}}, {Text: "Again."}}
	replies := []modeltest.Reply{
		{Text: "It is hunter2!", Calls: []modeltest.Call{{Name: "run", Input: `{"script":"echo hunter2!"}`}}}, {Text: "No."}, {Text: "hunter2!"},
	}
	for i, p := range providers() {
		s := p.serve(t, modeltest.Script(replies...))
		hold := func(m model.Model, keep func([]byte) []byte) (sent, kept []string, answers [][]byte) {
			c := m.Begin(wide)
			call := ""
			for _, turn := range turns {
				turn.MaxTokens, turn.Keep = 100, keep
				turn.Sending = func(body, keeps []byte) error {
					sent, kept = append(sent, string(body)), append(kept, string(keeps))
					return nil
				}
				for i := range turn.Results {
					turn.Results[i].Call = call
				}
				r, x, err := c.Say(t.Context(), turn)
				require.NoError(t, err)
				if len(r.Calls) > 0 {
					call = r.Calls[0].ID
				}
				if keep != nil {
					require.NotContains(t, r.Text, "hunter2")
				}
				answers = append(answers, x.Kept)
			}
			return sent, kept, answers
		}
		sent, kept, answers := hold(p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil }), func(b []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("er2!"), []byte("one]")), []byte("hunt"), []byte("[g"))
		})
		require.Equal(t, sent[0], kept[0])
		require.Contains(t, sent[2], "hunter2!")
		require.NotContains(t, kept[1]+kept[2], "hunter2!")
		wire := model.Wire{Base: &answered{answers}}
		again, same, _ := hold([]model.Model{anthropic.New("claude-test", s.URL, wire), openai.New("gpt-test", s.URL, wire)}[i], nil)
		require.Equal(t, kept, again)
		require.Equal(t, kept, same)
	}
}
