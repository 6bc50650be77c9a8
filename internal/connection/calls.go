package connection

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// tools reads every page of the server's list.
func (s *session) tools(ctx context.Context) ([]Tool, error) {
	var tools []Tool
	seen := map[string]bool{}
	for cursor, page := "", 0; ; page++ {
		if page == maxPages {
			return nil, fmt.Errorf("it has more than %d pages of tools", maxPages)
		}
		asked, caught := catching(ctx, `{"tools":[]}`)
		_, err := s.ListTools(asked, &mcp.ListToolsParams{Cursor: cursor})
		raw := caught.result()
		if raw == nil {
			return nil, err
		}
		var list struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("its list of tools: %w", err)
		}
		if len(tools)+len(list.Tools) > MaxTools {
			return nil, fmt.Errorf("it has more than %d tools", MaxTools)
		}
		for _, def := range list.Tools {
			t, err := toolOf(def)
			switch {
			case err != nil:
				return nil, err
			case seen[t.Name]:
				return nil, fmt.Errorf("it has two tools named %q", t.Name)
			}
			seen[t.Name] = true
			tools = append(tools, t)
		}
		if list.NextCursor == "" {
			slices.SortFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
			return tools, nil
		}
		if list.NextCursor == cursor {
			return nil, fmt.Errorf("its list of tools does not end: the cursor %.80q comes again", cursor)
		}
		cursor = list.NextCursor
	}
}

func toolOf(def json.RawMessage) (Tool, error) {
	var head struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(def, &head); err != nil || head.Name == "" {
		return Tool{}, fmt.Errorf("a tool without a name: %.200s", def)
	}
	canonical, err := digest.CanonicalText(def)
	if err != nil {
		return Tool{}, fmt.Errorf("the definition of %q: %w", head.Name, err)
	}
	return Tool{Name: head.Name, Definition: canonical, Digest: digest.Bytes(canonical)}, nil
}

// call sends one call and returns its result as it came.
func (s *session) call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	asked, caught := catching(ctx, `{"content":[]}`)
	_, err := s.CallTool(asked, &mcp.CallToolParams{Name: tool, Arguments: args})
	if raw := caught.result(); len(raw) > 0 {
		return raw, nil
	}
	return nil, err
}

// resultOf reads of a result what joy acts on.
func resultOf(raw json.RawMessage) (Result, error) {
	var r struct {
		IsError    bool   `json:"isError"`
		ResultType string `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Result{}, fault.Wrap(fault.Connection, err, "the result of a call")
	}
	if r.ResultType == "input_required" {
		return Result{}, fault.New(fault.Connection, "the tool asks for more input, which nobody can give during a run")
	}
	return Result{Raw: raw, IsError: r.IsError}, nil
}
