package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// connectAdd writes a connection into the joy.yaml of the directory joy works in.
func (a *app) connectAdd(name string, o connectAddOptions) error {
	t, err := a.openSpec()
	if err != nil {
		return err
	}
	if c, there := t.spec.Connections[name]; there {
		return fault.New(fault.Input, "connection %s is there already", name).At(trust.SpecName, c.Line, c.Col).
			WithHint("joy connect rm %s first", name)
	}
	c, err := o.connection()
	if err != nil {
		return err
	}
	entry, err := written(name, c)
	if err != nil {
		return err
	}
	text := t.add(entry)
	if _, err := agent.Parse([]byte(text), ""); err != nil {
		return clearPlaces(err) // they would be of a text that nobody has seen
	}
	want := maps.Clone(t.spec.Connections)
	if want == nil {
		want = map[string]agent.Connection{}
	}
	want[name] = c
	if err := t.write([]string{text}, want); err != nil {
		return editError(err, 0, "write it yourself: connections: {%s}", entry)
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.connect-add/1", "name": name, "line": entry})
	}
	a.say("joy.yaml: %s", entry)
	for _, use := range secretNames(c) {
		a.say("its secret is yours to give: joy secret set %s --connection %s", use, name)
	}
	a.say("next: joy trust && joy connect test %s", name)
	return nil
}

// connection is what the flags declare.
func (o connectAddOptions) connection() (agent.Connection, error) {
	c := agent.Connection{URL: o.url, Unconfined: o.unconfine, Env: map[string]string{}}
	if len(o.command) > 0 {
		c.Command = o.command
	}
	named := func(what, name string) (string, error) {
		name = strings.TrimPrefix(name, "secret:")
		if !secret.SecretName.MatchString(name) { // it may be the value itself, and is not repeated
			return "", usage(fmt.Errorf("%s takes the name of a secret, never its value", what), "joy secret set NAME --connection NAME stores the value")
		}
		return "secret:" + name, nil
	}
	var err error
	if o.bearer != "" {
		if c.Bearer, err = named("--bearer", o.bearer); err != nil {
			return c, err
		}
	}
	for _, pair := range o.env {
		variable, name, ok := strings.Cut(pair, "=")
		if !ok {
			return c, usage(errors.New("--env takes VARIABLE=SECRET, the name of a secret"), "joy connect add --help")
		}
		if c.Env[variable], err = named("--env", name); err != nil {
			return c, err
		}
	}
	return c, nil
}

// written is the connection as one line of joy.yaml.
func written(name string, c agent.Connection) (string, error) {
	quoted := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	}
	plain := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s} }
	body := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	put := func(key string, value *yaml.Node) { body.Content = append(body.Content, plain(key), value) }
	if c.URL != "" {
		put("url", quoted(c.URL))
	} else {
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, arg := range c.Command {
			list.Content = append(list.Content, plain(arg))
		}
		put("command", list)
	}
	if len(c.Env) > 0 {
		env := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		for _, variable := range slices.Sorted(maps.Keys(c.Env)) {
			env.Content = append(env.Content, plain(variable), quoted(c.Env[variable]))
		}
		put("env", env)
	}
	if c.Bearer != "" {
		put("bearer", quoted(c.Bearer))
	}
	if c.Unconfined != "" {
		put("unconfined", quoted(c.Unconfined))
	}
	out, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{plain(name), body}})
	if err != nil {
		return "", fault.Wrap(fault.Input, err, "write the connection down")
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

func secretNames(c agent.Connection) []string {
	var out []string
	for _, ref := range append(slices.Collect(maps.Values(c.Env)), c.Bearer) {
		if name, ok := strings.CutPrefix(ref, "secret:"); ok && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (a *app) connectRemove(name string) error {
	t, err := a.openSpec()
	if err != nil {
		return err
	}
	c, there := t.spec.Connections[name]
	if !there {
		return noConnection(name, trust.OfSpec(a.dir, t.spec))
	}
	if user, at := usedBy(t.spec, name); user != "" {
		return fault.New(fault.Input, "connection %s is used by %s", name, user).At(trust.SpecName, at.Line, at.Col).WithHint("remove that first")
	}
	want := maps.Clone(t.spec.Connections)
	delete(want, name)
	if err := t.write(t.without(name), want); err != nil {
		return editError(err, c.Line, "remove it yourself")
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.connect-rm/1", "name": name})
	}
	a.say("joy.yaml: connection %s is gone; its secrets are still known: joy secret list", name)
	return nil
}

// usedBy finds what would be left without its connection.
func usedBy(s *agent.Spec, name string) (string, agent.Pos) {
	of := func(action string) bool { return strings.HasPrefix(action, name+".") }
	for _, step := range s.Steps {
		if of(step.Action.Value) {
			return "step " + step.ID, step.Action.Pos
		}
		for _, g := range step.Tools {
			if of(g.Action.Value) {
				return "step " + step.ID, g.Action.Pos
			}
		}
	}
	for _, action := range slices.Sorted(maps.Keys(s.Fixtures)) {
		if of(action) {
			return "fixtures", s.Fixtures[action].Pos
		}
	}
	return "", agent.Pos{}
}

func editError(err error, line int, hint string, args ...any) error {
	if fault.KindOf(err) == fault.Input {
		return err
	}
	return fault.Wrap(fault.Input, err, "edit joy.yaml").At(trust.SpecName, line, 0).WithHint(hint, args...)
}

func clearPlaces(err error) error {
	for _, e := range fault.All(err) {
		e.File, e.Line, e.Col = "", 0, 0
	}
	return err
}
