package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/term"
)

// printConnections is a line for each connection: what it is, what of it is granted, and what it is given.
func (a *app) printConnections(p *plan.Plan) error {
	if len(p.Connections) == 0 {
		return nil
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Connections)) {
		c := p.Connections[name]
		what := c.URL
		if what == "" {
			what = strings.Join(c.Argv, " ")
		}
		if c.Server != nil {
			what += fmt.Sprintf(" (%s)", strings.TrimSpace(c.Server.Name+" "+c.Server.Version))
		}
		line := fmt.Sprintf("connection %s: %s; tools: %s", name, what, orNothing(slices.Sorted(maps.Keys(c.Tools))))
		for _, as := range slices.Sorted(maps.Keys(c.Secrets)) {
			line += fmt.Sprintf("; gets %s as %s", c.Secrets[as], as)
		}
		if c.Unconfined != "" {
			line += "; not confined: " + c.Unconfined
		}
		b.WriteString("\n" + term.Line(line))
	}
	_, err := a.out.Write([]byte(b.String() + "\n"))
	return err
}

// argumentsOf are the arguments of a pinned tool that are not fixed.
func argumentsOf(p *plan.Plan, action string, fixed json.RawMessage) string {
	t, _ := p.Tool(action)
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(t.Part("inputSchema"), &schema) // one without properties says nothing of them
	var taken map[string]json.RawMessage
	_ = json.Unmarshal(fixed, &taken)
	for name := range taken {
		delete(schema.Properties, name)
	}
	return orNothing(slices.Sorted(maps.Keys(schema.Properties)))
}

func approvalOf(p *plan.Plan, s plan.Step, action string) string {
	if p.Asks(s, action) {
		return "a person is asked"
	}
	return "nobody is asked"
}
