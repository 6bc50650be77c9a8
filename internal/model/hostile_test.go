package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// streamed is an answer of these bytes, of a media type.
func streamed(media, body string) modeltest.Reply {
	return modeltest.Reply{Status: http.StatusOK, Header: http.Header{"Content-Type": {media}}, Body: body}
}

const events = "text/event-stream; charset=utf-8"

func messageEvent(kind, fields string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fields)
}

// message is the beginning of an answer of Anthropic's, with its usage.
func message(usage string) string {
	return messageEvent("message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"m","content":[],"usage":{`+usage+`}}`)
}

func toolBlock(index int, id string) string {
	return messageEvent("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":"run","input":{}}`, index, id)) +
		messageEvent("content_block_stop", fmt.Sprintf(`,"index":%d`, index))
}

func messageEnd(stop, usage string) string {
	return messageEvent("message_delta", `,"delta":{"stop_reason":"`+stop+`"},"usage":{`+usage+`}`) + messageEvent("message_stop", "")
}

func chunk(delta, finish string) string {
	return `data: {"id":"c","model":"m","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":` + finish + "}]}\n\n"
}

func callPart(index int, id, name string) string {
	return chunk(fmt.Sprintf(`"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}]`, index, id, name), "null")
}

func usageChunk(usage string) string {
	return `data: {"id":"c","choices":[],"usage":{` + usage + "}}\n\n"
}

// What a server says beside the protocol ends the turn at once, in words that somebody can act on.
func TestAnswersThatAreNone(t *testing.T) {
	long := strings.Repeat("x", 40<<20)
	for name, c := range map[string]struct{ anthropic, openai modeltest.Reply }{
		`"text/html", and not a stream of events`: {streamed("text/html", "<html>Welcome</html>"), streamed("text/html", "<html>Welcome</html>")},
		`"application/json", and not a stream`: {
			streamed("application/json", `{"id":"m","content":[]}`), streamed("application/json", `{"id":"c","choices":[]}`),
		},
		"longer than 32 MiB": {streamed(events, "data: "+long), streamed(events, "data: "+long)},
		"answer is longer than 32 MiB": {
			streamed(events, message("")+strings.Repeat(": nothing\n", 4<<20)), streamed(events, chunk(`"content":"x"`, "null")+strings.Repeat(": nothing\n", 4<<20)),
		},
		"two calls of the id": {
			streamed(events, message("")+toolBlock(0, "a")+toolBlock(1, "a")+messageEnd("tool_use", "")),
			streamed(events, callPart(0, "a", "run")+callPart(1, "a", "run")+chunk("", `"tool_calls"`)),
		},
		"the answer ": { // asks for too many calls, in either's words
			streamed(events, message("")+many(200, func(i int) string { return toolBlock(i, fmt.Sprint(i)) })+messageEnd("tool_use", "")),
			streamed(events, many(200, func(i int) string { return callPart(i, fmt.Sprint(i), "run") })+chunk("", `"tool_calls"`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i, reply := range []modeltest.Reply{c.anthropic, c.openai} {
				p := providers()[i]
				s := p.serve(t, modeltest.Script(reply))
				m := p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil })
				_, x, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
				require.ErrorContains(t, err, name, p.name)
				require.Equal(t, fault.Connection, fault.KindOf(err))
				require.Equal(t, 1, x.Attempts)
				require.Less(t, len(err.Error()), 2<<10)
			}
		})
	}
}

// A call whose words are no JSON is what the model said, and not a call without arguments; the conversation goes on after it.
func TestACallThatIsNoJSON(t *testing.T) {
	each(t, []modeltest.Reply{{Calls: []modeltest.Call{{Name: "run", Input: `{"script": "rm`}}}, {Text: "Sorry."}}, func(t *testing.T, m model.Model, _ *modeltest.Server) {
		c := m.Begin(task)
		reply, _, err := c.Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		require.NoError(t, err)
		require.Equal(t, `{"script": "rm`, reply.Calls[0].Input)
		_, _, err = c.Say(t.Context(), model.Turn{MaxTokens: 100, Results: []model.Result{{Call: reply.Calls[0].ID, Text: "no JSON", IsError: true}}})
		require.NoError(t, err)
	})
}

func many(n int, one func(int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(one(i))
	}
	return b.String()
}

// A long answer in small pieces takes time with its length, and not with the square of it.
func TestALongAnswerIsReadInOnePass(t *testing.T) {
	const n, piece = 20_000, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for i, body := range []string{
		message("") + messageEvent("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`) +
			strings.Repeat(messageEvent("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+piece+`"}`), n) +
			messageEvent("content_block_stop", `,"index":0`) + messageEnd("end_turn", ""),
		strings.Repeat(chunk(`"content":"`+piece+`"`, "null"), n) + chunk("", `"stop"`),
	} {
		p := providers()[i]
		s := p.serve(t, modeltest.Script(streamed(events, body)))
		m := p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil })
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		reply, _, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		runtime.ReadMemStats(&after)
		require.NoError(t, err, p.name)
		require.Len(t, reply.Text, n*len(piece))
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<30), "each piece was copied once, and not with all before it")
	}
}

// Whatever a provider says was used, the count is one that limits can be held to.
func TestUsageIsNotBelieved(t *testing.T) {
	said := func(in, out string) [2]modeltest.Reply {
		return [2]modeltest.Reply{
			streamed(events, message(`"input_tokens":`+in)+messageEnd("end_turn", `"output_tokens":`+out)),
			streamed(events, chunk(`"content":""`, `"stop"`)+usageChunk(`"prompt_tokens":`+in+`,"completion_tokens":`+out)),
		}
	}
	for name, c := range map[string]struct {
		replies   [2]modeltest.Reply
		in, out   int64
		estimated bool
	}{
		"negative": {said("-1000000", "5"), 0, 5, false},
		"huge":     {said("9223372036854775807", "9223372036854775807"), 1 << 40, 1 << 40, false},
		"nothing":  {said("0", "0"), 50, 0, true},
		"no number": {[2]modeltest.Reply{
			streamed(events, message("")+messageEnd("end_turn", "")), streamed(events, chunk(`"content":""`, `"stop"`)),
		}, 50, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			for i, p := range providers() {
				s := p.serve(t, modeltest.Script(c.replies[i]))
				m := p.connect(s.URL, func(r *http.Request) error { p.key(r.Header, modeltest.Key); return nil })
				reply, x, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
				require.NoError(t, err)
				want := model.Usage{In: c.in, Out: c.out}
				if c.estimated {
					want.In = int64(len(x.Request)) / 4
				}
				require.Equal(t, want, reply.Usage, p.name)
				require.Equal(t, c.estimated, reply.Estimated)
			}
		})
	}
}

// An answer that broke off was paid for: it counts, and it is asked for again only as long as it may be.
func TestBrokenOffAnswersCount(t *testing.T) {
	cut := modeltest.Reply{Text: "half of it, and no more", Cut: true}
	each(t, []modeltest.Reply{cut, cut, {Text: "Here."}}, func(t *testing.T, m model.Model, _ *modeltest.Server) {
		reply, x, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		require.NoError(t, err)
		require.Equal(t, 3, x.Attempts)
		require.Greater(t, reply.Usage.Total(), int64(120+2*len(x.Request)/4))
	})
	each(t, []modeltest.Reply{cut}, func(t *testing.T, m model.Model, s *modeltest.Server) {
		enough := errors.New("that is enough")
		reply, _, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100, Repeat: func(all, last model.Usage) error {
			require.Positive(t, all.Total())
			require.Equal(t, all, last)
			return enough
		}})
		require.ErrorIs(t, err, enough)
		require.Positive(t, reply.Usage.Total())
		require.Len(t, s.Requests(), 1)
	})
}

// A key that may not go to an address keeps the request here, and is not tried there again.
func TestARefusedAuthorizationIsFinal(t *testing.T) {
	for _, p := range providers() {
		asked := 0
		s := p.serve(t, modeltest.Script(modeltest.Reply{}))
		m := p.connect(s.URL, func(*http.Request) error { asked++; return fault.New(fault.Policy, "not there") })
		_, _, err := m.Begin(task).Say(t.Context(), model.Turn{Text: "Hello?", MaxTokens: 100})
		require.Equal(t, fault.Policy, fault.KindOf(err))
		require.Equal(t, 1, asked)
		_, _, err = m.Begin(task).Say(context.Background(), model.Turn{Text: strings.Repeat("x", 33<<20), MaxTokens: 100})
		require.Equal(t, fault.Agent, fault.KindOf(err))
		require.ErrorContains(t, err, "longer than 32 MiB")
		require.Empty(t, s.Requests())
	}
}
