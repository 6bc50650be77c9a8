package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/modeltest"
	"github.com/joystream-ai/joy/internal/model/openai"
)

// provider is one wire of the two.
type provider struct {
	name    string
	serve   func(testing.TB, func(int, modeltest.Request) modeltest.Reply) *modeltest.Server
	connect func(url string, authorize func(*http.Request) error) model.Model
	key     func(h http.Header, key string)
}

func providers() []provider {
	return []provider{
		{
			"anthropic", modeltest.Anthropic,
			func(url string, a func(*http.Request) error) model.Model {
				return anthropic.New("claude-test", url, model.Wire{Authorize: a})
			},
			func(h http.Header, key string) { h.Set("X-Api-Key", key) },
		},
		{
			"openai", modeltest.OpenAI,
			func(url string, a func(*http.Request) error) model.Model {
				return openai.New("gpt-test", url, model.Wire{Authorize: a})
			},
			func(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) },
		},
	}
}

// each runs a test with either wire against a server that says replies.
func each(t *testing.T, replies []modeltest.Reply, test func(t *testing.T, m model.Model, s *modeltest.Server)) {
	t.Helper()
	for _, p := range providers() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := p.serve(t, modeltest.Script(replies...))
			test(t, p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil }), s)
		})
	}
}

var task = model.Task{
	System: "Be brief.",
	Tools: []model.Tool{{Name: "run", Description: "Runs a script.", Input: json.RawMessage(
		`{"type":"object","properties":{"script":{"type":"string"}},"required":["script"],"additionalProperties":false}`)}},
}

func TestConversation(t *testing.T) {
	each(t, []modeltest.Reply{
		{Text: "Let me look.", Calls: []modeltest.Call{{Name: "run", Input: `{"script": "ls"}`}, {Name: "run", Input: `{"script": "pwd"}`}}},
		{Text: `Two files, "a" and b.`, In: 200, Out: 20},
	}, func(t *testing.T, m model.Model, s *modeltest.Server) {
		c := m.Begin(task)
		r, x, err := c.Say(t.Context(), model.Turn{Text: "What is here?", MaxTokens: 1000})
		require.NoError(t, err)
		require.Equal(t, model.Calls, r.Stop)
		require.Equal(t, "Let me look.", r.Text)
		require.Len(t, r.Calls, 2)
		require.JSONEq(t, `{"script": "ls"}`, r.Calls[0].Input)
		require.JSONEq(t, `{"script": "pwd"}`, r.Calls[1].Input)
		require.NotEqual(t, r.Calls[0].ID, r.Calls[1].ID)
		require.Equal(t, int64(100), r.Usage.In)
		require.Equal(t, int64(10), r.Usage.Out)
		require.Equal(t, int64(7), r.Usage.CacheRead)
		require.Equal(t, 1, x.Attempts)
		require.Equal(t, []byte(s.Requests()[0].Body), x.Request, "the bytes of the wire")
		require.Contains(t, string(x.Response), "data: ")
		require.Contains(t, string(x.Request), "Be brief.")

		r, _, err = c.Say(t.Context(), model.Turn{MaxTokens: 1000, Results: []model.Result{
			{Call: r.Calls[1].ID, Text: "/workspace"}, {Call: r.Calls[0].ID, Text: "a b", IsError: true},
		}})
		require.NoError(t, err)
		require.Equal(t, model.End, r.Stop)
		require.Equal(t, `Two files, "a" and b.`, r.Text)
		require.Contains(t, string(s.Requests()[1].Body), "Let me look.", "what the model said is echoed")
	})
}

// A thought goes back as it came, signed, before the call that it led to: the API refuses it otherwise.
func TestThoughtsGoBack(t *testing.T) {
	p := providers()[0]
	s := p.serve(t, modeltest.Script(
		modeltest.Reply{Think: "First \"ls\",\nthen <think>.", Text: "Let me look.", Calls: []modeltest.Call{{Name: "run", Input: `{"script": "ls"}`}}},
		modeltest.Reply{Text: "Here."},
	))
	c := p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil }).Begin(task)
	r, _, err := c.Say(t.Context(), model.Turn{Text: "What is here?", MaxTokens: 1000})
	require.NoError(t, err)
	require.Equal(t, "Let me look.", r.Text, "a thought is not said")
	_, _, err = c.Say(t.Context(), model.Turn{MaxTokens: 1000, Results: []model.Result{{Call: r.Calls[0].ID, Text: "a b"}}})
	require.NoError(t, err)
	var second struct {
		Messages []struct {
			Role    string
			Content []struct{ Type, Thinking, Signature, Text string }
		}
	}
	require.NoError(t, json.Unmarshal(s.Requests()[1].Body, &second))
	require.Len(t, second.Messages, 3)
	said := second.Messages[1].Content
	require.Len(t, said, 3)
	require.Equal(t, []string{"thinking", "text", "tool_use"}, []string{said[0].Type, said[1].Type, said[2].Type})
	require.Equal(t, "First \"ls\",\nthen <think>.", said[0].Thinking)
	require.Equal(t, modeltest.Signature, said[0].Signature)
}

func TestTriedAgain(t *testing.T) {
	for name, first := range map[string]modeltest.Reply{
		"429":     {Status: 429, Header: http.Header{"Retry-After": {"0"}}},
		"503":     {Status: 503, Header: http.Header{"Retry-After-Ms": {"1"}}},
		"cut":     {Text: "half of it", Cut: true},
		"unended": {Text: "all but the end", Unended: true},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, []modeltest.Reply{first, {Text: "Here."}}, func(t *testing.T, m model.Model, s *modeltest.Server) {
				r, x, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
				require.NoError(t, err)
				require.Equal(t, "Here.", r.Text)
				require.Equal(t, 2, x.Attempts)
				require.Len(t, s.Requests(), 2)
			})
		})
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name  string
		reply modeltest.Reply
		kind  fault.Kind
		says  string
		tries int
	}{
		{"no such model", modeltest.Reply{Status: 404}, fault.Input, "no model", 1},
		{"key refused", modeltest.Reply{Status: 401}, fault.Consent, "refused the key", 1},
		{"bad request", modeltest.Reply{Status: 400}, fault.Connection, "the test says 400", 1},
		{"wait for an hour", modeltest.Reply{Status: 429, Header: http.Header{"Retry-After": {"3600"}}}, fault.Connection, "no more requests", 1},
		{"always busy", modeltest.Reply{Status: 529, Header: http.Header{"Retry-After-Ms": {"1"}}}, fault.Connection, "after 4 attempts", 4},
		{"html", modeltest.Reply{Status: 502, Body: "<html>no</html>", Header: http.Header{"Retry-After-Ms": {"1"}}}, fault.Connection, "502", 4},
		{"elsewhere", modeltest.Reply{Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, fault.Connection, "another address", 1},
		{"always cut", modeltest.Reply{Text: "half", Cut: true}, fault.Connection, "did not answer after 3 attempts", 3},
		{"odd end", modeltest.Reply{Text: "x", Stop: "tired"}, fault.Connection, "does not know", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, []modeltest.Reply{c.reply}, func(t *testing.T, m model.Model, s *modeltest.Server) {
				_, x, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
				require.Error(t, err)
				require.Equal(t, c.kind, fault.KindOf(err), err.Error())
				require.ErrorContains(t, err, c.says)
				require.Equal(t, c.tries, x.Attempts)
				require.NotContains(t, err.Error(), modeltest.Key)
				require.Len(t, s.Requests(), c.tries)
			})
		})
	}
}

func TestCancelMidStream(t *testing.T) {
	for _, p := range providers() {
		t.Run(p.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			why := errors.New("enough")
			s := p.serve(t, func(int, modeltest.Request) modeltest.Reply {
				cancel(why)
				return modeltest.Reply{Hang: true}
			})
			m := p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil })
			_, _, err := m.Begin(task).Say(ctx, model.Turn{Text: "Hello?", MaxTokens: 100})
			require.ErrorIs(t, err, why)
		})
	}
}

func TestRefusalAndLength(t *testing.T) {
	for _, c := range []struct {
		provider provider
		stop     string
		want     model.Stop
	}{
		{providers()[0], "refusal", model.Refusal},
		{providers()[0], "max_tokens", model.Length},
		{providers()[1], "content_filter", model.Refusal},
		{providers()[1], "length", model.Length},
	} {
		s := c.provider.serve(t, modeltest.Script(modeltest.Reply{Text: "I", Stop: c.stop}))
		m := c.provider.connect(s.URL, func(r *http.Request) error { c.provider.key(r.Header, modeltest.Key); return nil })
		r, _, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Stop)
	}
}

func TestEnvironmentIsNotRead(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"} {
		t.Setenv(name, modeltest.Key)
	}
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	for _, p := range providers() {
		s := p.serve(t, modeltest.Script(modeltest.Reply{}))
		_, _, err := p.connect(s.URL, nil).Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		require.ErrorContains(t, err, "refused the key")
		require.Empty(t, s.Requests(), "a request without the key is not counted")
	}
}

func TestKeptHere(t *testing.T) {
	each(t, []modeltest.Reply{{}}, func(t *testing.T, m model.Model, s *modeltest.Server) {
		why := errors.New("the disk is full")
		asked := 0
		_, _, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100, Sending: func(body, kept []byte) error {
			asked++
			require.Equal(t, body, kept)
			require.Contains(t, string(body), "Hello?")
			return why
		}})
		require.ErrorIs(t, err, why)
		require.Equal(t, 1, asked)
		require.Empty(t, s.Requests(), "what could not be recorded was not sent")
	})
}
