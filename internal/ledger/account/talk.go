package account

import (
	"encoding/json"
	"strings"
)

// Asked is what a request to a model adds to the conversation: all that follows the model's last answer, and at its beginning the
// system's words. "" when it is of neither form.
func Asked(body []byte) string {
	var q struct {
		System   json.RawMessage   `json:"system"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(body, &q) != nil {
		return ""
	}
	var b strings.Builder
	first := 0
	for i, m := range q.Messages {
		var who struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(m, &who) == nil && who.Role == "assistant" {
			first = i + 1
		}
	}
	if first == 0 && len(q.System) > 0 {
		writeTalk(&b, q.System)
	}
	for _, m := range q.Messages[first:] {
		writeTalk(&b, m)
	}
	return b.String()
}

// Told is a model's streamed answer put together: words first, then what it asks for. "" when it is of neither form. It takes the
// beginning of an answer as it takes a whole one.
func Told(body []byte) string {
	var text, calls strings.Builder
	for line := range strings.Lines(string(body)) {
		data, ok := strings.CutPrefix(line, "data: ")
		var e struct {
			Block struct{ Name string } `json:"content_block"`
			Delta struct {
				Text string `json:"text"`
				JSON string `json:"partial_json"`
			} `json:"delta"`
			Choices []struct {
				Delta struct {
					Content, Refusal string
					Calls            []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
		}
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		text.WriteString(e.Delta.Text)
		writeCall(&calls, e.Block.Name, e.Delta.JSON)
		for _, c := range e.Choices {
			text.WriteString(c.Delta.Content + c.Delta.Refusal)
			for _, call := range c.Delta.Calls {
				writeCall(&calls, call.Function.Name, call.Function.Arguments)
			}
		}
	}
	return strings.TrimPrefix(text.String()+calls.String(), "\n")
}

// writeCall writes a part of a call: its name begins one.
func writeCall(b *strings.Builder, name, arguments string) {
	if name != "" {
		b.WriteString("\n→ " + name + " ")
	}
	b.WriteString(arguments)
}

// writeTalk writes the texts of a message, in whatever depth of the two forms they stand.
func writeTalk(b *strings.Builder, raw json.RawMessage) {
	var text string
	var list []json.RawMessage
	var part struct {
		Role    string          `json:"role"`
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	switch {
	case json.Unmarshal(raw, &text) == nil:
		b.WriteString(text + "\n")
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list {
			writeTalk(b, item)
		}
	case json.Unmarshal(raw, &part) == nil:
		if part.Role != "" {
			b.WriteString("[" + part.Role + "]\n")
		}
		if part.Text != "" {
			b.WriteString(part.Text + "\n")
		}
		if len(part.Content) > 0 {
			writeTalk(b, part.Content)
		}
	}
}
