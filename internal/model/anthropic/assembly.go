package anthropic

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/joystream-ai/joy/internal/model"
)

// Bounds of an answer's events. Each call is a block, with words and thoughts between; the API sends one delta of the message.
const (
	maxBlocks = 4 * model.MaxCalls
	maxDeltas = 16
)

// assembly puts an answer together from its events, in the order that the API promises
// (https://platform.claude.com/docs/en/build-with-claude/streaming#event-types). The SDK's own accumulator copies all of a block
// with each of its deltas, and all of the message with each end: here words wait for the end of their block, and an end comes once.
type assembly struct {
	msg            sdk.Message
	inputs         map[int]string // of calls whose words are no JSON, by their block: the message has {} there
	blocks         []block
	deltas         int
	started, ended bool
}

// kinds of content blocks that answer what joy asks for.
var kinds = []string{"text", "tool_use", "thinking", "redacted_thinking"}

// block is what the deltas of a content block say.
type block struct {
	text, thinking, signature, input []byte
	ended                            bool
}

func (a *assembly) add(e sdk.MessageStreamEventUnion) error {
	switch e.Type {
	case "message_start":
		if a.started {
			return errors.New("the message starts twice")
		}
		if len(e.Message.Content) > 0 {
			return errors.New("the message starts with a content")
		}
		a.started = true
	case "message_delta":
		if a.deltas++; a.deltas > maxDeltas {
			return fmt.Errorf("more than %d deltas of the message", maxDeltas)
		}
	case "content_block_start":
		if len(a.blocks) == maxBlocks {
			return fmt.Errorf("more than %d blocks", maxBlocks)
		}
		if kind := e.ContentBlock.Type; !slices.Contains(kinds, kind) {
			return fmt.Errorf("a content block of type %.40q, which nobody asked for", kind)
		}
		a.blocks = append(a.blocks, block{})
	case "content_block_delta", "content_block_stop":
		if e.Index < 0 || e.Index >= int64(len(a.blocks)) || a.blocks[e.Index].ended {
			return fmt.Errorf("an event of type %s for content block %d, which is not open", e.Type, e.Index)
		}
		if e.Type == "content_block_stop" {
			a.end(int(e.Index))
		} else if a.blocks[e.Index].take(e) {
			return nil
		}
	case "message_stop":
		for i := range a.blocks {
			a.end(i)
		}
		a.ended = true
	}
	return a.msg.Accumulate(e)
}

// take keeps what a delta adds to the words of the block; false: it is of another kind.
func (b *block) take(e sdk.MessageStreamEventUnion) bool {
	switch e.Delta.Type {
	case "text_delta":
		b.text = append(b.text, e.Delta.Text...)
	case "thinking_delta":
		b.thinking = append(b.thinking, e.Delta.Thinking...)
	case "signature_delta":
		b.signature = append(b.signature, e.Delta.Signature...)
	case "input_json_delta":
		b.input = append(b.input, e.Delta.PartialJSON...)
	default:
		return false
	}
	return true
}

// end puts the words of a block into the message.
func (a *assembly) end(i int) {
	b := &a.blocks[i]
	if b.ended || i >= len(a.msg.Content) {
		return
	}
	c := &a.msg.Content[i]
	c.Text += string(b.text)
	c.Thinking += string(b.thinking)
	c.Signature += string(b.signature)
	switch {
	case len(b.input) == 0:
	case json.Valid(b.input):
		c.Input = b.input
	default:
		if a.inputs == nil {
			a.inputs = map[int]string{}
		}
		a.inputs[i], c.Input = string(b.input), nil
	}
	if c.Type == "tool_use" && !json.Valid(c.Input) { // or it could not be said again
		c.Input = json.RawMessage("{}")
	}
	*b = block{ended: true}
}
