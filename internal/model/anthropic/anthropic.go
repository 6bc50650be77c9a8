// Package anthropic speaks to Anthropic's Messages API
// (https://platform.claude.com/docs/en/api/messages) through the official SDK.
//
// The one rule: what the model answered goes back to it as it came, thinking and signatures included; only the host's own
// turns are made here.
package anthropic

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"

	"github.com/joystream-ai/joy/internal/model"
)

// URL is where the API is when a plan names no other.
const URL = "https://api.anthropic.com"

// Model is one model of Anthropic's, or of a server that speaks as Anthropic does.
type Model struct {
	name    string
	service sdk.MessageService
}

// New is the model of that name at the address, which is URL when empty. Nothing is sent, and no variable of the environment
// is read.
func New(name, url string, wire model.Wire) *Model {
	if url == "" {
		url = URL
	}
	return &Model{name: name, service: sdk.NewMessageService(
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(strings.TrimRight(url, "/")+"/"), option.WithHTTPClient(wire.Client()),
		option.WithMaxRetries(model.Retries),
	)}
}

// Begin implements model.Model.
func (m *Model) Begin(t model.Task) model.Conversation {
	params := sdk.MessageNewParams{Model: m.name}
	if t.System != "" {
		params.System = []sdk.TextBlockParam{{Text: t.System}}
	}
	for _, tool := range t.Tools {
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: tool.Name, Description: sdk.String(tool.Description), InputSchema: schemaOf(tool.Input),
		}})
	}
	// The provider marks the last block that can be cached, so each turn reads what the turn before has written
	// (https://platform.claude.com/docs/en/build-with-claude/prompt-caching).
	params.CacheControl = sdk.NewCacheControlEphemeralParam()
	var answer map[string]any
	if model.Strict(t.Answer) && json.Unmarshal(t.Answer, &answer) == nil {
		params.OutputConfig.Format = sdk.JSONOutputFormatParam{Schema: answer}
	}
	return &conversation{model: m, body: model.NewBody(params)}
}

// schemaOf keeps every keyword of an object's schema.
func schemaOf(schema json.RawMessage) sdk.ToolInputSchemaParam {
	var all map[string]any
	_ = json.Unmarshal(schema, &all) // the plan holds valid schemas only
	delete(all, "type")
	return sdk.ToolInputSchemaParam{ExtraFields: all}
}

type conversation struct {
	model *Model
	body  *model.Body
}

// Say implements model.Conversation.
func (c *conversation) Say(ctx context.Context, t model.Turn) (model.Reply, model.Exchange, error) {
	var blocks []sdk.ContentBlockParamUnion
	for _, r := range t.Results { // results first: the API wants them there
		blocks = append(blocks, sdk.NewToolResultBlock(r.Call, r.Text, r.IsError))
	}
	if t.Text != "" {
		blocks = append(blocks, sdk.NewTextBlock(t.Text))
	}
	c.body.Add(sdk.NewUserMessage(blocks...))
	body, kept, err := c.body.Bytes("max_tokens", t.MaxTokens)
	if err != nil {
		return model.Reply{}, model.Exchange{}, model.Failed(ctx, "anthropic", c.model.name, model.Exchange{}, "", err)
	}
	var said assembly
	reply, x, err := model.Again(ctx, t, kept, func(ctx context.Context) (model.Reply, error) {
		var err error
		events := c.model.service.NewStreaming(ctx, sdk.MessageNewParams{}, option.WithRequestBody("application/json", body))
		if said, err = gather(events); err != nil {
			r, _ := said.read() // whatever it ended for
			return r, err
		}
		return said.read()
	})
	if err == nil {
		err = c.echo(said, x, &reply)
	}
	if err != nil {
		return reply, x, model.Failed(ctx, "anthropic", c.model.name, x, saidOf(err), err)
	}
	return reply, x, nil
}

// echo adds what was said to the conversation, and to what is kept of it, what is kept of that.
func (c *conversation) echo(said assembly, x model.Exchange, reply *model.Reply) error {
	if bytes.Equal(x.Kept, x.Response) {
		c.body.Echo(said.msg.ToParam(), nil)
		return nil
	}
	kept, err := gather(ssestream.NewStream[sdk.MessageStreamEventUnion](ssestream.NewDecoder(x.KeptResponse()), nil))
	if err != nil {
		return fmt.Errorf("the answer holds a secret, and is none without it: %w", err)
	}
	c.body.Echo(said.msg.ToParam(), kept.msg.ToParam())
	r, err := kept.read()
	reply.Text = r.Text
	return err
}

// gather reads one answer to its end: an answer without message_stop is none.
func gather(events *ssestream.Stream[sdk.MessageStreamEventUnion]) (assembly, error) {
	var a assembly
	defer events.Close()
	for !a.ended && events.Next() {
		if err := a.add(events.Current()); err != nil {
			return a, fmt.Errorf("the answer is not what the API says: %w", err)
		}
	}
	err := events.Err()
	var answered *sdk.Error
	switch {
	case a.ended:
		return a, nil
	case err == nil:
		return a, model.ErrCut
	case errors.As(err, &answered) && answered.StatusCode >= 400:
		return a, err
	case a.msg.ID != "":
		return a, fmt.Errorf("%w: %w", model.ErrCut, err)
	}
	return a, err
}

func (a assembly) read() (model.Reply, error) {
	msg := a.msg
	r := model.Reply{Model: msg.Model, Usage: model.Usage{
		In: msg.Usage.InputTokens, Out: msg.Usage.OutputTokens,
		CacheRead: msg.Usage.CacheReadInputTokens, CacheWrite: msg.Usage.CacheCreationInputTokens,
	}}
	for i, b := range msg.Content {
		switch b.Type {
		case "text":
			r.Text += b.Text
		case "tool_use":
			r.Calls = append(r.Calls, model.Call{ID: b.ID, Name: b.Name, Input: cmp.Or(a.inputs[i], string(b.Input))})
		}
	}
	stop, ok := map[sdk.StopReason]model.Stop{
		sdk.StopReasonEndTurn: model.End, sdk.StopReasonStopSequence: model.End, sdk.StopReasonToolUse: model.Calls,
		sdk.StopReasonMaxTokens: model.Length, sdk.StopReasonModelContextWindowExceeded: model.Length, sdk.StopReasonRefusal: model.Refusal,
	}[msg.StopReason]
	if !ok {
		return r, fmt.Errorf("the answer ended for a reason that joy does not know: %q", msg.StopReason)
	}
	r.Stop = stop
	return r, nil
}

// saidOf is what the provider said of an error, or "".
func saidOf(err error) string {
	var e *sdk.Error
	if !errors.As(err, &e) {
		return ""
	}
	var body struct {
		Error struct{ Message string }
	}
	_ = json.Unmarshal([]byte(e.RawJSON()), &body)
	return body.Error.Message
}
