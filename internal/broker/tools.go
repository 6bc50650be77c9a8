package broker

import (
	"encoding/json"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/schema"
)

// Pins are the connections of a plan, by name: what the broker holds the servers to.
type Pins map[string]plan.Connection

// tool is one action that a plan has pinned. What its server says of its effects are claims: nothing is allowed because
// of them that a plan does not grant.
type tool struct {
	action     string
	connection string
	name       string
	pin        plan.Tool
	readOnly   bool // it changes nothing
	idempotent bool // it may be called twice
}

// find is the tool of an action, connection.tool.
func (p Pins) find(action string) (tool, bool) {
	conn, name, _ := strings.Cut(action, ".")
	pin, ok := p[conn].Tools[name]
	if !ok {
		return tool{}, false
	}
	var hints struct {
		Idempotent bool `json:"idempotentHint"`
	}
	_ = json.Unmarshal(pin.Part("annotations"), &hints) // without annotations nothing is claimed
	return tool{action, conn, name, pin, pin.ReadOnly(), hints.Idempotent}, true
}

// InputSchema is the schema of an action's arguments; nil when the plan has not pinned it.
func (p Pins) InputSchema(action string) json.RawMessage {
	t, _ := p.find(action)
	return t.inputSchema()
}

// Destination is where the calls of an action go: a URL, or the command of a server on this machine.
func (p Pins) Destination(action string) string {
	conn, _, _ := strings.Cut(action, ".")
	if p[conn].URL != "" {
		return p[conn].URL
	}
	return strings.Join(p[conn].Argv, " ")
}

func (t tool) inputSchema() json.RawMessage { return t.pin.Part("inputSchema") }

// check judges arguments by the tool's own schema, which is compiled once in a run.
func (b *Broker) check(t tool, args json.RawMessage) error {
	known, ok := b.schemas.Load(t.action)
	if !ok {
		s, err := schema.Compile(t.inputSchema())
		if err != nil {
			return err
		}
		known, _ = b.schemas.LoadOrStore(t.action, s)
	}
	s, _ := known.(*schema.Schema)
	return s.Check(args)
}

// Shown is a tool of a grant as a step sees it.
type Shown struct {
	Description string
	Input       json.RawMessage // JSON Schema of the arguments, without those that the grant fixes
}

// Shown is what a grant lets a step call.
func (b *Broker) Shown(g plan.Grant) (Shown, error) {
	t, ok := b.cfg.Pins.find(g.Action)
	if !ok {
		return Shown{}, fault.New(fault.Input, "the plan has no tool %s", g.Action)
	}
	def, err := shownTool(t, g)
	if err != nil {
		return Shown{}, err
	}
	var s struct {
		Description string          `json:"description"`
		Input       json.RawMessage `json:"inputSchema"`
	}
	err = json.Unmarshal(def, &s)
	return Shown(s), err
}

// shownTool is a tool as a step sees it: the pinned definition under the action's name, without the arguments that the
// grant fixes.
func shownTool(t tool, g plan.Grant) (json.RawMessage, error) {
	def, err := readObject(t.pin.Definition)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(t.action)
	if err != nil {
		return nil, err
	}
	def.set("name", name)
	fixed, err := readObject(orEmpty(g.With))
	if err != nil {
		return nil, err
	}
	if names := fixed.keys(); len(names) > 0 {
		cut, err := schema.Without(t.inputSchema(), names)
		if err != nil {
			return nil, err
		}
		def.set("inputSchema", cut)
	}
	return def.json(), nil
}
