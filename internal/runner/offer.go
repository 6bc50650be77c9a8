package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/plan"
)

// tool is something that the model of a step may ask for. A complaint is an answer to the model; any other error of do
// ends the step.
type tool struct {
	model.Tool
	do func(ctx context.Context, input json.RawMessage) (string, error)
}

// complaint is an error that the model is told, so that it may do better.
func complaint(format string, args ...any) error { return complained(fmt.Sprintf(format, args...)) }

type complained string

func (c complained) Error() string { return string(c) }

func primitive[In any](name, about, schema string, do func(context.Context, In) (string, error)) tool {
	return tool{model.Tool{Name: name, Description: about, Input: json.RawMessage(schema)}, func(ctx context.Context, raw json.RawMessage) (string, error) {
		var in In
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&in); err != nil {
			return "", complaint("these are not the arguments of %s: %v", name, err)
		}
		return do(ctx, in)
	}}
}

// offer is all that the model of this step may ask for: the files of its bundle, the primitives when it has the VM, and the
// actions that the plan grants. No word of the model's adds to it.
func (t *talk) offer() ([]tool, error) {
	var tools []tool
	if len(t.skill.Files) > 1 {
		tools = append(tools, primitive("read_skill", "Read a file of the skill, by its path as listed.",
			`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`, t.readSkill))
	}
	if t.world != nil {
		tools = append(tools, t.primitives()...)
	}
	for _, g := range t.step.Tools {
		def, err := t.run.Broker.Shown(g)
		if err != nil {
			return nil, err
		}
		name := toolName(g.Action, tools)
		tools = append(tools, tool{model.Tool{Name: name, Description: t.run.words(def.Description), Input: def.Input}, func(ctx context.Context, raw json.RawMessage) (string, error) {
			return t.call(ctx, g, raw)
		}})
	}
	return tools, nil
}

// toolName is an action's name in the letters that providers allow.
func toolName(action string, taken []tool) string {
	name := strings.Map(func(c rune) rune {
		if c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return c
		}
		return '_'
	}, strings.Replace(action, ".", "__", 1))
	name = name[:min(len(name), 60)]
	for n := 2; slices.ContainsFunc(taken, func(t tool) bool { return t.Name == name }); n++ {
		name = fmt.Sprintf("%s_%d", name[:min(len(name), 58)], n)
	}
	return name
}

// answerCalls does what a reply asks for, in its order, and answers all of it in one turn.
func (t *talk) answerCalls(ctx context.Context, calls []model.Call) (model.Turn, error) {
	var turn model.Turn
	for _, c := range calls {
		text, err := t.do(ctx, c)
		var told complained
		if err != nil && !errors.As(err, &told) {
			return turn, err
		}
		if err != nil {
			text = err.Error()
		}
		turn.Results = append(turn.Results, model.Result{Call: c.ID, Text: t.run.words(text), IsError: err != nil})
	}
	return turn, nil
}

func (t *talk) do(ctx context.Context, c model.Call) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	i := slices.IndexFunc(t.tools, func(tool tool) bool { return tool.Name == c.Name })
	if i < 0 {
		return "", complaint("there is no tool %s", quoted([]byte(c.Name)))
	}
	args := json.RawMessage(strings.TrimSpace(c.Input))
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if _, err := unmarshal(args); err != nil {
		return "", complaint("the arguments are not JSON: %v", err)
	}
	return t.tools[i].do(ctx, args)
}

// call makes a granted call by the broker, which decides, asks and records. A denial is told to the model, and fails the
// step in the end whatever it makes of it.
func (t *talk) call(ctx context.Context, g plan.Grant, args json.RawMessage) (string, error) {
	res, err := t.run.Broker.Call(ctx, broker.Call{Step: t.step.ID, Grant: g, Approve: t.step.Approve, Arguments: args})
	switch kind := fault.KindOf(err); {
	case err == nil:
	case ctx.Err() != nil, errors.Is(err, broker.ErrCredential), kind == fault.Platform && !errors.Is(err, connection.ErrUnknown), forbidden(ctx) != nil:
		return "", err
	default:
		return "", complaint("%s", t.run.Broker.Explain(err))
	}
	answer, err := readAnswer(res.Raw)
	if err != nil {
		return "", complaint("the answer of %s is not what MCP says", g.Action)
	}
	text := answer.text()
	if res.IsError {
		return "", complaint("%s", fence(g.Action, text))
	}
	return fence(g.Action, text), nil
}

// text is a tool's answer as a model reads it.
func (a answer) text() string {
	var parts []string
	for _, c := range a.Content {
		if said, ok := text(c); ok {
			parts = append(parts, said)
		} else {
			parts = append(parts, fmt.Sprintf("[%d bytes that are not text]", len(c)))
		}
	}
	if len(parts) == 0 && len(a.Structured) > 0 {
		parts = append(parts, string(a.Structured))
	}
	return shorten(strings.Join(parts, "\n"), 4*maxShown)
}

type skillInput struct {
	Path string `json:"path"`
}

// readSkill reads a pinned file of the bundle: exactly the bytes that were frozen.
func (t *talk) readSkill(_ context.Context, in skillInput) (string, error) {
	i := slices.IndexFunc(t.skill.Files, func(f plan.File) bool { return f.Path == in.Path })
	if i < 0 {
		return "", complaint("the skill has no file %s", quoted([]byte(in.Path)))
	}
	body, err := t.run.bundleText(t.skill, t.skill.Files[i])
	if err != nil {
		return "", err
	}
	if _, err := t.run.Ledger.Append(ledger.FileRead, t.step.ID, ledger.Data{
		"path": "skills/" + t.skill.Name + "/" + in.Path, "offset": 0, "bytes": len(body), "sha256": "sha256:" + t.skill.Files[i].SHA256,
	}); err != nil {
		return "", err
	}
	return shorten(t.run.words(body), 4*maxShown), nil
}

func (r *run) bundleText(skill plan.Skill, f plan.File) (string, error) {
	src, err := r.Bundle(skill.Name, f)
	if err != nil {
		return "", err
	}
	defer src.Close()
	body, err := io.ReadAll(io.LimitReader(src, maxWritten))
	return strings.ToValidUTF8(string(body), "\uFFFD"), err
}
