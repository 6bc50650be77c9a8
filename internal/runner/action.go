package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// action makes the one call of an action step, by the broker. The step is its own grant: its action, once, with what its
// input says.
func (r *run) action(ctx context.Context, s plan.Step, in any) (any, error) {
	schema := broker.Pins(r.Plan.Connections).InputSchema(s.Action)
	filled, err := r.fill(in, shapeOf(schema))
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "the input of %s", s.ID)
	}
	args, err := marshal(filled)
	if err != nil {
		return nil, fault.Wrap(fault.Input, err, "the input of %s", s.ID)
	}
	res, err := r.Broker.Call(ctx, broker.Call{
		Step: s.ID, Grant: plan.Grant{Action: s.Action, MaxCalls: 1}, Approve: s.Approve, Arguments: args,
	})
	if err != nil {
		return nil, err
	}
	answer, err := readAnswer(res.Raw)
	switch {
	case err != nil:
		return nil, fault.Wrap(fault.Connection, err, "the answer of %s", s.Action)
	case res.IsError:
		return nil, fault.New(fault.Connection, "%s failed: %s", s.Action, answer.words())
	}
	return answer.output()
}

// answer is what is read of a tool's result
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result).
type answer struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
}

func readAnswer(raw json.RawMessage) (answer, error) {
	var a answer
	err := json.Unmarshal(raw, &a)
	return a, err
}

// text is the text of one piece of content, when it is text.
func text(content json.RawMessage) (string, bool) {
	var c struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if json.Unmarshal(content, &c) != nil || c.Type != "text" || c.Text == nil {
		return "", false
	}
	return *c.Text, true
}

// words are what a tool says of its own failure.
func (a answer) words() string {
	var said []string
	for _, c := range a.Content {
		if t, ok := text(c); ok {
			said = append(said, t)
		}
	}
	if len(said) == 0 {
		return "it does not say why"
	}
	return strings.Join(said, "; ")
}

// output is what references to the step's output resolve to: the structured content when there is one, else the content,
// a list when it has several pieces. Text that is one JSON value is that value; other content is the object it is.
func (a answer) output() (json.RawMessage, error) {
	if s := bytes.TrimSpace(a.Structured); len(s) > 0 && string(s) != "null" {
		return oneJSON(s)
	}
	pieces := make([]json.RawMessage, len(a.Content))
	for i, c := range a.Content {
		piece, err := outputPiece(c)
		if err != nil {
			return nil, fault.Wrap(fault.Connection, err, "a piece of the answer")
		}
		pieces[i] = piece
	}
	switch len(pieces) {
	case 0:
		return json.RawMessage("null"), nil
	case 1:
		return pieces[0], nil
	}
	return marshalAll(pieces), nil
}

func outputPiece(content json.RawMessage) (json.RawMessage, error) {
	t, ok := text(content)
	if !ok {
		return oneJSON(content)
	}
	if v, err := oneJSON([]byte(t)); err == nil {
		return v, nil
	}
	return marshal(t)
}

func marshalAll(pieces []json.RawMessage) json.RawMessage {
	return append(append([]byte("["), bytes.Join(asBytes(pieces), []byte(","))...), ']')
}

func asBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}
