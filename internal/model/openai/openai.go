// Package openai speaks OpenAI's Chat Completions API
// (https://platform.openai.com/docs/api-reference/chat), which many servers speak as well, through the official SDK.
//
// The one rule: only what compatible servers understand is sent: a field that one of them may refuse is left out when it is
// not needed.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"

	"github.com/joystream-ai/joy/internal/model"
)

// URL is where the API is when a plan names no other.
const URL = "https://api.openai.com/v1"

// Model is one model of OpenAI's, or of a server that speaks as OpenAI does.
type Model struct {
	name    string
	own     bool // OpenAI's own server
	service sdk.ChatCompletionService
}

// New is the model of that name at the address, which is URL when empty. Nothing is sent, and no variable of the environment
// is read.
func New(name, url string, wire model.Wire) *Model {
	own := url == "" || strings.TrimRight(url, "/") == URL
	if url == "" {
		url = URL
	}
	return &Model{name: name, own: own, service: sdk.NewChatCompletionService(
		option.WithBaseURL(strings.TrimRight(url, "/")+"/"), option.WithHTTPClient(wire.Client()), option.WithMaxRetries(model.Retries),
	)}
}

// Begin implements model.Model.
func (m *Model) Begin(t model.Task) model.Conversation {
	params := sdk.ChatCompletionNewParams{Model: m.name}
	params.StreamOptions.IncludeUsage = sdk.Bool(true)
	for _, tool := range t.Tools {
		var schema map[string]any
		_ = json.Unmarshal(tool.Input, &schema) // the plan holds valid schemas only
		params.Tools = append(params.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: tool.Name, Description: sdk.String(tool.Description), Parameters: schema,
		}))
	}
	if model.Strict(t.Answer) {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: "answer", Strict: sdk.Bool(true), Schema: t.Answer},
		}
	}
	c := &conversation{model: m, body: model.NewBody(params)}
	if t.System != "" {
		c.body.Add(sdk.SystemMessage(t.System))
	}
	return c
}

type conversation struct {
	model *Model
	body  *model.Body
}

// Say implements model.Conversation.
func (c *conversation) Say(ctx context.Context, t model.Turn) (model.Reply, model.Exchange, error) {
	for _, r := range t.Results {
		text := r.Text
		if r.IsError { // the API has no field for it
			text = "ERROR: " + text
		}
		c.body.Add(sdk.ToolMessage(text, r.Call))
	}
	if t.Text != "" {
		c.body.Add(sdk.UserMessage(t.Text))
	}
	limit := "max_tokens"
	if c.model.own { // whose newer models refuse what is all that other servers know
		limit = "max_completion_tokens"
	}
	body, kept, err := c.body.Bytes(limit, t.MaxTokens)
	if err != nil {
		return model.Reply{}, model.Exchange{}, model.Failed(ctx, "openai", c.model.name, model.Exchange{}, "", err)
	}
	var said answer
	reply, x, err := model.Again(ctx, t, kept, func(ctx context.Context) (model.Reply, error) {
		var err error
		chunks := c.model.service.NewStreaming(ctx, sdk.ChatCompletionNewParams{}, option.WithRequestBody("application/json", body))
		if said, err = gather(chunks); err != nil {
			r, _ := said.read() // whatever it ended for
			return r, err
		}
		return said.read()
	})
	if err == nil {
		err = c.echo(said, x, &reply)
	}
	if err != nil {
		return reply, x, model.Failed(ctx, "openai", c.model.name, x, saidOf(err), err)
	}
	return reply, x, nil
}

// echo adds what was said to the conversation, and to what is kept of it, what is kept of that.
func (c *conversation) echo(said answer, x model.Exchange, reply *model.Reply) error {
	if bytes.Equal(x.Kept, x.Response) {
		c.body.Echo(said.echo(), nil)
		return nil
	}
	kept, err := gather(ssestream.NewStream[sdk.ChatCompletionChunk](ssestream.NewDecoder(x.KeptResponse()), nil))
	if err != nil {
		return fmt.Errorf("the answer holds a secret, and is none without it: %w", err)
	}
	c.body.Echo(said.echo(), kept.echo())
	r, err := kept.read()
	reply.Text = r.Text
	return err
}

// answer is a streamed completion. The parts of it are put together here: the SDK's accumulator takes an index out of order
// for an error, and compatible servers send all calls with index 0 or none.
type answer struct {
	model, finish string
	text, refusal []byte
	calls         []call
	usage         sdk.CompletionUsage
}

// call is one that is put together. index is its number as the provider counts.
type call struct {
	id, name string
	index    int64
	input    []byte
}

// gather reads one answer to its end: an answer without a finish reason is none.
func gather(chunks *ssestream.Stream[sdk.ChatCompletionChunk]) (answer, error) {
	var a answer
	defer chunks.Close()
	begun := false
	for chunks.Next() {
		begun = true
		if err := a.add(chunks.Current()); err != nil {
			return a, err
		}
	}
	err := chunks.Err()
	var answered *sdk.Error
	switch {
	case err == nil && a.finish != "":
		return a, nil
	case err == nil:
		return a, model.ErrCut
	case errors.As(err, &answered) && answered.StatusCode >= 400:
		return a, err
	case begun:
		return a, fmt.Errorf("%w: %w", model.ErrCut, err)
	}
	return a, err
}

func (a *answer) add(chunk sdk.ChatCompletionChunk) error {
	if chunk.Model != "" {
		a.model = chunk.Model
	}
	if chunk.JSON.Usage.Valid() {
		a.usage = chunk.Usage
	}
	for _, choice := range chunk.Choices {
		if choice.Index != 0 {
			return errors.New("the answer has several choices, and one was asked for")
		}
		a.text = append(a.text, choice.Delta.Content...)
		a.refusal = append(a.refusal, choice.Delta.Refusal...)
		if choice.FinishReason != "" {
			a.finish = choice.FinishReason
		}
		for _, part := range choice.Delta.ToolCalls {
			if err := a.addCall(part); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCall takes a part of a call. What has a new id, or a name without one, begins a call, whatever index it says; other
// parts continue the last call of their index. A name that is said again with the id is no second half.
func (a *answer) addCall(part sdk.ChatCompletionChunkChoiceDeltaToolCall) error {
	begins := part.ID != "" || part.Function.Name != ""
	at := -1
	for i := len(a.calls) - 1; at < 0 && i >= 0; i-- {
		c := a.calls[i]
		if part.ID != "" && c.id == part.ID || !begins && c.index == part.Index {
			at = i
		}
	}
	switch {
	case at < 0 && len(a.calls) > model.MaxCalls:
		return fmt.Errorf("the answer asks for more than %d calls at once", model.MaxCalls)
	case at < 0:
		at = len(a.calls)
		a.calls = append(a.calls, call{id: cmp.Or(part.ID, fmt.Sprintf("call_%d", at)), index: part.Index})
	case begins && a.calls[at].index != part.Index:
		return fmt.Errorf("the answer has two calls of the id %.80q", part.ID)
	}
	c := &a.calls[at]
	if len(c.name)+len(part.Function.Name) > maxName {
		return errors.New("the answer asks for a tool with a name as no tool has")
	}
	if c.name != part.Function.Name {
		c.name += part.Function.Name
	}
	c.input = append(c.input, part.Function.Arguments...)
	return nil
}

// maxName bounds the name of a call, in bytes: that of a tool has at most 64.
const maxName = 1 << 10

func (a answer) read() (model.Reply, error) {
	cached := a.usage.PromptTokensDetails.CachedTokens
	r := model.Reply{
		Model: a.model, Text: string(a.text),
		Usage: model.Usage{In: max(0, a.usage.PromptTokens-cached), Out: a.usage.CompletionTokens, CacheRead: cached},
	}
	for _, c := range a.calls {
		r.Calls = append(r.Calls, model.Call{ID: c.id, Name: c.name, Input: string(c.input)})
	}
	switch {
	case len(a.refusal) > 0 || a.finish == "content_filter":
		r.Stop, r.Text = model.Refusal, string(a.text)+string(a.refusal)
	case len(a.calls) > 0 && a.finish != "length": // servers say "stop" with calls as well
		r.Stop = model.Calls
	case a.finish == "stop":
		r.Stop = model.End
	case a.finish == "length":
		r.Stop = model.Length
	default:
		return r, fmt.Errorf("the answer ended for a reason that joy does not know: %q", a.finish)
	}
	return r, nil
}

// echo is the answer as the next request has it.
func (a answer) echo() sdk.ChatCompletionMessageParamUnion {
	var msg sdk.ChatCompletionAssistantMessageParam
	if len(a.text) > 0 || len(a.calls) == 0 {
		msg.Content.OfString = param.NewOpt(string(a.text))
	}
	if len(a.refusal) > 0 {
		msg.Refusal = param.NewOpt(string(a.refusal))
	}
	for _, call := range a.calls {
		msg.ToolCalls = append(msg.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID: call.id, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.name, Arguments: string(call.input)},
		}})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &msg}
}

// saidOf is what the provider said of an error, or "".
func saidOf(err error) string {
	var e *sdk.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Message
}
