package secret_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

// cut is a text in pieces of n bytes, each of whole characters.
func cut(text string, n int) (pieces []string) {
	for len(text) > 0 {
		k := min(n, len(text))
		for k < len(text) && text[k]&0xc0 == 0x80 {
			k++
		}
		pieces, text = append(pieces, text[:k]), text[k:]
	}
	return pieces
}

func event(b *strings.Builder, v map[string]any) {
	text, _ := json.Marshal(v)
	fmt.Fprintf(b, "event: %s\r\ndata: %s\r\n\r\n", v["type"], text)
}

// messagesStream is an answer of Anthropic's: a text, and two calls that come in turn.
func messagesStream(text, one, two string, n int) string {
	var b strings.Builder
	start := cut(text, n)
	event(&b, map[string]any{"type": "content_block_start", "index": 0, "content_block": map[string]any{"type": "text", "text": start[0]}})
	for _, p := range start[1:] {
		event(&b, map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": p}})
	}
	event(&b, map[string]any{"type": "ping"})
	for i, call := range []string{one, two} {
		for _, p := range cut(call, n) {
			event(&b, map[string]any{"type": "content_block_delta", "index": 1 + i, "delta": map[string]any{"type": "input_json_delta", "partial_json": p}})
		}
	}
	return b.String()
}

// completionsStream is the same as OpenAI's, with the calls a piece each in turn.
func completionsStream(text, one, two string, n int) string {
	var b strings.Builder
	for _, p := range cut(text, n) {
		event(&b, map[string]any{"id": "c1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": p}}}})
	}
	calls := [2][]string{cut(one, n), cut(two, n)}
	for i := range max(len(calls[0]), len(calls[1])) {
		var list []any
		for index, c := range calls {
			if i < len(c) {
				list = append(list, map[string]any{"function": map[string]any{"arguments": c[i]}, "index": index})
			}
		}
		event(&b, map[string]any{"id": "c1", "choices": []any{map[string]any{"index": 0, "delta": map[string]any{"tool_calls": list}}}})
	}
	return b.String() + "data: [DONE]\n\n"
}

// read joins what a stream says: the text, then the arguments of each call.
func read(t *testing.T, stream []byte) (text string, calls [2]string) {
	t.Helper()
	for line := range strings.Lines(string(stream)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e struct {
			Index int
			Block struct{ Text string } `json:"content_block"`
			Delta struct {
				Text string
				JSON string `json:"partial_json"`
			}
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						Index    int
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(data), &e), data)
		text += e.Block.Text + e.Delta.Text
		if e.Delta.JSON != "" {
			calls[e.Index-1] += e.Delta.JSON
		}
		for _, c := range e.Choices {
			text += c.Delta.Content
			for _, call := range c.Delta.Calls {
				calls[call.Index] += call.Function.Arguments
			}
		}
	}
	return text, calls
}

var streams = map[string]func(text, one, two string, n int) string{"messages": messagesStream, "completions": completionsStream}

func arguments(script string) string {
	b, _ := json.Marshal(map[string]string{"script": script})
	return string(b)
}

// However an answer is cut, what its pieces are together is what the texts would be redacted.
func TestEventsAreJudgedTogether(t *testing.T) {
	s := secret.NewScrubber()
	require.NoError(t, s.Add("db", []byte(nasty)))
	text := "Ünder " + nasty + ", " + nasty + " and " + githubToken + ". Done."
	first := "export A_TOKEN=\"" + githubToken + "\"\necho '" + nasty + "' \"$A_TOKEN\"\n"
	second := "echo nothing"
	redacted := func(text string) string { clean, _ := s.Redact([]byte(text)); return string(clean) }
	for name, stream := range streams {
		for n := 1; n < 40; n++ {
			body := []byte(stream(text, arguments(first), arguments(second), n))
			clean, hits := s.RedactEvents(body)
			require.NotEmpty(t, hits)
			got, calls := read(t, clean)
			require.Equal(t, redacted(text), got, "%s, %d", name, n)
			require.JSONEq(t, arguments(redacted(first)), calls[0], "%s, %d", name, n)
			require.Equal(t, arguments(second), calls[1])
			for _, bad := range []string{nasty, githubToken} {
				require.NotContains(t, got+calls[0], bad)
				require.NotContains(t, string(clean), bad)
			}
			again, _ := s.RedactEvents(clean)
			require.Equal(t, string(clean), string(again), "once is enough")
		}
	}
}

// Nothing of an answer without a secret is touched, and of others only the strings that hold one.
func TestEventsKeepTheirBytes(t *testing.T) {
	s := set(t, "db", nasty)
	for name, stream := range streams {
		body := []byte(stream("Say \"<no>\" \u2028.", `{"script": "ls \u003c"}`, "", 3))
		clean, hits := s.RedactEvents(body)
		require.Empty(t, hits, name)
		require.Equal(t, body, clean)
		odd := strings.Replace(string(body), "\"index\":0", "\"index\" : 0", 1) + stream(nasty, "", "", 4)
		clean, hits = s.RedactEvents([]byte(odd))
		require.NotEmpty(t, hits, name)
		require.True(t, bytes.HasPrefix(clean, []byte(odd[:len(body)])))
	}
}

func TestEventsOfAnyForm(t *testing.T) {
	s := secret.NewScrubber()
	require.NoError(t, s.Add("db", []byte("hunter2hunter2")))
	for name, c := range map[string]struct{ body, want string }{
		"an error's body":            {`{"error":{"message":"no hunter2hunter2"}}`, `{"error":{"message":"no [REDACTED:db]"}}`},
		"a stream that breaks off":   {"data: {\"text\":\"hunter2\"}\n\ndata: {\"text\":\"hunter2 and", "data: {\"text\":\"[REDACTED:db]\"}\n\ndata: {\"text\":\" and"},
		"in the midst of an escape":  {"data: {\"text\":\"hunter2\"}\n\ndata: {\"text\":\"hunter2\\u00", "data: {\"text\":\"[REDACTED:db]\"}\n\ndata: {\"text\":\""},
		"an event of two lines":      {"data: {\"text\":\ndata:\"hunter2\"}\n\ndata:{\"text\":\"hunter2\"}\n\n", "data: {\"text\":\ndata:\"[REDACTED:db]\"}\n\ndata:{\"text\":\"\"}\n\n"},
		"two blocks of text":         {"data: {\"index\":0,\"text\":\"hunter2\"}\n\ndata: {\"index\":1,\"text\":\"hunter2\"}\n\n", "data: {\"index\":0,\"text\":\"[REDACTED:db]\"}\n\ndata: {\"index\":1,\"text\":\"\"}\n\n"},
		"keys of another case":       {"data: {\"Text\":\"hunter2\"}\n\ndata: {\"text\":\"hunter2\"}\n\n", "data: {\"Text\":\"[REDACTED:db]\"}\n\ndata: {\"text\":\"\"}\n\n"},
		"calls that share an index":  {"data: {\"l\":[{\"index\":0,\"a\":\"{\\\"x\\\":\\\"hunter2hunter2\\\"}\"}]}\n\ndata: {\"l\":[{\"index\":0,\"a\":\"{\\\"x\\\":1}\"}]}\n\n", "data: {\"l\":[{\"index\":0,\"a\":\"{\\\"x\\\":\\\"[REDACTED:db]\\\"}\"}]}\n\ndata: {\"l\":[{\"index\":0,\"a\":\"{\\\"x\\\":1}\"}]}\n\n"},
		"text that looks like JSON":  {"data: {\"text\":\"[1] \\\"a\\nhunter2\"}\n\ndata: {\"text\":\"hunter2\\\"\"}\n\n", "data: {\"text\":\"[1] \\\"a\\n[REDACTED:db]\"}\n\ndata: {\"text\":\"\\\"\"}\n\n"},
		"no JSON, and a value in it": {"data: hello hunter2hunter2\n\n: hunter2hunter2\n", "data: hello [REDACTED:db]\n\n: [REDACTED:db]\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, hits := s.RedactEvents([]byte(c.body))
			require.Equal(t, c.want, string(got))
			require.NotEmpty(t, hits)
		})
	}
}

// What cannot be looked through within bounds is withheld, and what is nested without end costs no more for it.
func TestEventsAreBounded(t *testing.T) {
	s := set(t, "db", "hunter2hunter2")
	clean, hits := s.RedactEvents([]byte(strings.Repeat("data: [\"\",\"\",\"\",\"\"]\n\n", 1<<17+1)))
	require.Equal(t, "[REDACTED:too-many-pieces]", string(clean))
	require.Len(t, hits, 1)
	deep := []byte("data: " + strings.Repeat(`{"a":"hunter2","b":`, 20_000) + "\n\n")
	clean, _ = s.RedactEvents(deep)
	text, _ := s.RedactEvents(clean)
	require.Equal(t, clean, text)
}

// What a marker would leave as no JSON is withheld whole: the arguments of a call are read again.
func TestEventsStayJSON(t *testing.T) {
	s := set(t, "odd", `1,"b":"x`)
	clean, _ := s.RedactEvents([]byte(messagesStream("a", `{"a":1,"b":"x"}`, "", 2)))
	_, calls := read(t, clean)
	require.Equal(t, `"[REDACTED:odd]"`, calls[0])
}

func FuzzEvents(f *testing.F) {
	f.Add("key = ", "\" x\n", 3)
	f.Add("{\"a\":\"", "\"}", 1)
	f.Add("data: \xff", "\u2028\x00", 7)
	f.Fuzz(func(t *testing.T, before, after string, n int) {
		s := secret.NewScrubber()
		require.NoError(t, s.Add("db", []byte("s3cr3t/p@ss")))
		before, after = strings.ToValidUTF8(before, "?"), strings.ToValidUTF8(after, "?")
		text := before + "s3cr3t/p@ss" + after + "s3cr3t/p@ss" + before
		for _, stream := range streams {
			clean, hits := s.RedactEvents([]byte(stream(text, arguments(text), text, max(1, n%64))))
			require.NotEmpty(t, hits)
			got, calls := read(t, clean)
			require.NotContains(t, got+"\n"+calls[0]+"\n"+calls[1], "s3cr3t/p@ss")
			require.True(t, json.Valid([]byte(calls[0])))
		}
		_, _ = s.RedactEvents([]byte(before + "data: " + text + "\n\n" + after))
	})
}
