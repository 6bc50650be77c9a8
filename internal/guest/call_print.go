package guest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// errAnswer is an answer that the broker does not give: the two are of one joy.
var errAnswer = &problem{exitUnreachable, "the broker's answer cannot be read"}

// toolResult is what is read of a tool's result
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result).
type toolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent"`
	IsError    bool              `json:"isError"`
}

// printResult prints the structured result when there is one, with the bytes it came with, and otherwise the content:
// text as it is, anything else as JSON. The words of a tool that failed are an error.
func (c *caller) printResult(answer []byte, raw bool) error {
	var res toolResult
	if json.Unmarshal(answer, &res) != nil {
		return errAnswer
	}
	if raw {
		if err := c.print(answer); err != nil || !res.IsError {
			return err
		}
		return &problem{code: exitFailed}
	}
	if res.IsError {
		text := strings.TrimSpace(string(bytes.Join(texts(res.Content), []byte("\n"))))
		if text == "" {
			text = "the tool failed and does not say why"
		}
		return &problem{exitFailed, text}
	}
	if len(res.Structured) > 0 && string(res.Structured) != "null" {
		return c.print(res.Structured)
	}
	for _, text := range texts(res.Content) {
		if err := c.print(text); err != nil {
			return err
		}
	}
	return nil
}

// texts is content as it is printed: the text of text, the JSON of anything else.
func texts(content []json.RawMessage) [][]byte {
	list := make([][]byte, len(content))
	for i, raw := range content {
		var block struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if list[i] = raw; json.Unmarshal(raw, &block) == nil && block.Type == "text" {
			list[i] = []byte(block.Text)
		}
	}
	return list
}

// print writes text and sees to it that its last line has an end.
func (c *caller) print(text []byte) error {
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(slices.Clip(text), '\n')
	}
	_, err := c.stdout.Write(text)
	return err
}

// grantedTool is one tool of GET /v1/tools.
type grantedTool struct {
	Action     string          `json:"action"`
	Definition json.RawMessage `json:"definition"`
	Left       int             `json:"calls_left"` // -1: not bounded by the plan
}

// definition is what a person is told of a tool. A server may write what it likes; what cannot be read is not shown.
type definition struct {
	Description string `json:"description"`
	InputSchema struct {
		Properties properties `json:"properties"`
		Required   []string   `json:"required"`
	} `json:"inputSchema"`
}

func (c *caller) printTools(answer []byte, asJSON bool) error {
	if asJSON {
		return c.print(answer)
	}
	var list struct {
		Tools []grantedTool `json:"tools"`
	}
	if json.Unmarshal(answer, &list) != nil {
		return errAnswer
	}
	if len(list.Tools) == 0 {
		fmt.Fprintln(c.stderr, "joy-guest: the plan grants this step no tools")
	}
	var out bytes.Buffer
	for _, t := range list.Tools {
		t.describe(&out)
	}
	_, err := c.stdout.Write(out.Bytes())
	return err
}

// describe is one tool for a person: a line of its own, and one for each argument.
func (t grantedTool) describe(w io.Writer) {
	var def definition
	_ = json.Unmarshal(t.Definition, &def)
	fmt.Fprint(w, t.Action)
	if t.Left >= 0 {
		fmt.Fprintf(w, "  (%d calls left)", t.Left)
	}
	if text := oneLine(def.Description); text != "" {
		fmt.Fprint(w, "  ", text)
	}
	fmt.Fprintln(w)
	for _, p := range def.InputSchema.Properties {
		needed := ""
		if slices.Contains(def.InputSchema.Required, p.name) {
			needed = ", required"
		}
		line := fmt.Sprintf("    %s (%s%s)  %s", p.name, oneLine(p.kind()), needed, oneLine(p.Description))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// maxSummary bounds what is printed of a description, in runes; tools --json has it whole.
const maxSummary = 120

func oneLine(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > maxSummary {
		return string(line[:maxSummary-1]) + "…"
	}
	return string(line)
}

// property is one argument of a tool.
type property struct {
	name        string
	Type        any    `json:"type"` // a name, or a list of names
	Enum        []any  `json:"enum"`
	Description string `json:"description"`
}

func (p property) kind() string {
	switch t := p.Type.(type) {
	case string:
		if len(p.Enum) > 0 {
			return strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Enum), " ", "|"), "[]")
		}
		return t
	case []any:
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(t), " ", "|"), "[]")
	}
	return "any"
}

// properties keep the order in which the server declares them: it is the order that a person would give them in.
type properties []property

func (ps *properties) UnmarshalJSON(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return err // null, or no object: nothing to show
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var schema json.RawMessage
		if err := dec.Decode(&schema); err != nil {
			return err
		}
		var p property
		_ = json.Unmarshal(schema, &p) // true is a schema too: any value
		p.name, _ = name.(string)
		*ps = append(*ps, p)
	}
	return nil
}
