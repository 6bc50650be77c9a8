package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/policy"
)

// Encode writes p as joy.lock: JSON with two spaces of indentation, one key or element a line so that a review shows
// what changed, and a newline at the end. Equal plans have equal bytes. plan_digest is computed, whatever p.Digest
// says. The error is a RawMessage that is not JSON, or a number that JSON has not.
func Encode(p *Plan) ([]byte, error) {
	full, err := normal(p)
	if err != nil {
		return nil, err
	}
	if full.Digest, err = Digest(&full); err != nil {
		return nil, err
	}
	compact, err := plainJSON(full)
	if err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return nil, fmt.Errorf("encode the plan: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Digest names p: sha256:… over the canonical JSON of everything in it but plan_digest and the definitions of tools,
// each of which has a digest of its own beside it.
func Digest(p *Plan) (string, error) {
	full, err := normal(p)
	if err != nil {
		return "", err
	}
	for _, c := range full.Connections {
		for name, t := range c.Tools {
			c.Tools[name] = Tool{Digest: t.Digest}
		}
	}
	raw, err := plainJSON(full)
	if err != nil {
		return "", fmt.Errorf("digest the plan: %w", err)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(raw, &keys); err != nil {
		return "", fmt.Errorf("digest the plan: %w", err)
	}
	delete(keys, "plan_digest")
	canonical, err := digest.Canonical(keys)
	if err != nil {
		return "", fmt.Errorf("digest the plan: %w", err)
	}
	return digest.Bytes(canonical), nil
}

// normal is a copy of p in which every list and object is there and every raw JSON is canonical, so that a plan has
// one encoding however it was put together.
func normal(p *Plan) (Plan, error) {
	n := *p
	var c canon
	n.Inputs = c.object(p.Inputs, "inputs")
	n.Triggers = list(p.Triggers)
	n.Policy = normalPolicy(p.Policy)
	if p.Setup != nil {
		s := *p.Setup
		s.Argv, s.Egress = list(s.Argv), list(s.Egress)
		n.Setup = &s
	}
	n.Skills = list(p.Skills)
	for i := range n.Skills {
		s := &n.Skills[i]
		s.Files, s.Findings = list(s.Files), list(s.Findings)
		s.InputSchema = c.raw(s.InputSchema, "input_schema")
		s.OutputSchema = c.raw(s.OutputSchema, "output_schema")
	}
	n.Connections = make(map[string]Connection, len(p.Connections))
	for name, conn := range p.Connections {
		conn.Env, conn.Files = list(conn.Env), list(conn.Files)
		secrets := make(map[string]string, len(conn.Secrets))
		maps.Copy(secrets, conn.Secrets)
		tools := make(map[string]Tool, len(conn.Tools))
		for id, t := range conn.Tools {
			t.Definition = c.text(t.Definition, "the definition of "+name+"."+id)
			tools[id] = t
		}
		conn.Secrets, conn.Tools = secrets, tools
		n.Connections[name] = conn
	}
	n.Allow = list(p.Allow)
	n.Steps = list(p.Steps)
	for i := range n.Steps {
		s := &n.Steps[i]
		s.Needs, s.Tools, s.Egress = list(s.Needs), list(s.Tools), list(s.Egress)
		s.With = c.object(s.With, "with")
		s.Sandbox.Evidence = list(s.Sandbox.Evidence)
		for j := range s.Tools {
			s.Tools[j].With = c.object(s.Tools[j].With, "with")
		}
		if s.Entry != nil {
			e := *s.Entry
			e.Argv = list(e.Argv)
			s.Entry = &e
		}
	}
	return n, c.err
}

func normalPolicy(p policy.Policy) policy.Policy {
	p.Providers, p.Egress = list(p.Providers), list(p.Egress)
	return p
}

// list is a copy that is never nil.
func list[T any](in []T) []T { return append(make([]T, 0, len(in)), in...) }

// canon keeps the first error of several conversions.
type canon struct{ err error }

func (c *canon) raw(raw json.RawMessage, what string) json.RawMessage {
	return c.by(digest.CanonicalJSON, raw, what)
}

// text keeps the spelling of numbers.
func (c *canon) text(raw json.RawMessage, what string) json.RawMessage {
	return c.by(digest.CanonicalText, raw, what)
}

func (c *canon) by(form func([]byte) ([]byte, error), raw json.RawMessage, what string) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	out, err := form(raw)
	if err != nil {
		if c.err == nil {
			c.err = fmt.Errorf("encode %s: %w", what, err)
		}
		return json.RawMessage("null")
	}
	return out
}

// object is raw with {} for nothing.
func (c *canon) object(raw json.RawMessage, what string) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return c.raw(raw, what)
}
