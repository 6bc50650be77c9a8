package build

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// Offer is what a server offers: all its tools.
type Offer struct {
	Server      *plan.Server               // nil: it did not name itself
	Definitions map[string]json.RawMessage // by the name of the tool, as the server sent them
}

// Ask starts or reaches the named connections of a joy.yaml and lists what each offers. It is called at most once in a
// build, and only for pins that are not there. The error joins *fault.Error values, each of which names its server.
type Ask func(ctx context.Context, spec *agent.Spec, names []string) (map[string]Offer, error)

// tools pins the definition of every granted tool: kept from the old plan where its connection is still the same, else
// as the server gives it now. Without Ask, what is not pinned stays so.
func (b *builder) tools(ctx context.Context) {
	missing := map[string][]agent.Text{} // by connection
	for _, action := range b.granted() {
		name, tool := split(action.Value)
		c, known := b.plan.Connections[name]
		if !known {
			continue
		}
		if pin, ok := b.kept(name).Tools[tool]; ok {
			c.Tools[tool], c.Server = pin, b.kept(name).Server
			b.plan.Connections[name] = c
			continue
		}
		missing[name] = append(missing[name], action)
	}
	if len(missing) == 0 || len(b.errs) > 0 { // mistakes first: nothing is started for a joy.yaml that has to be mended
		return
	}
	if b.o.Ask == nil {
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			for _, action := range missing[name] {
				b.unpinned = append(b.unpinned, action.Value)
			}
		}
		slices.Sort(b.unpinned)
		b.unpinned = slices.Compact(b.unpinned)
		b.notes = append(b.notes, "not pinned yet: "+strings.Join(b.unpinned, ", ")+"; joy build asks for their definitions")
		return
	}
	offers, err := b.o.Ask(ctx, b.spec, slices.Sorted(maps.Keys(missing)))
	if err != nil {
		b.errs = append(b.errs, err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		b.pin(name, offers[name], missing[name])
	}
}

// kept is the old plan's connection of that name when its pins are still of the same thing: an unchanged command with
// the same files and variables, or the same address.
func (b *builder) kept(name string) plan.Connection {
	if b.o.Old == nil {
		return plan.Connection{}
	}
	old, is := b.o.Old.Connections[name], b.plan.Connections[name]
	same := old.URL == is.URL && slices.Equal(old.Argv, is.Argv) && slices.Equal(old.Env, is.Env) && slices.Equal(old.Files, is.Files)
	if !same && b.o.Ask != nil {
		return plan.Connection{}
	}
	return old // where nobody can be asked, a comparison is all that is wanted
}

// pin takes from an offer what is granted and has no pin yet. A pin that is kept stays as it is; where the server has
// another definition now, that is said.
func (b *builder) pin(name string, offer Offer, missing []agent.Text) {
	c := b.plan.Connections[name]
	for _, tool := range slices.Sorted(maps.Keys(c.Tools)) {
		now, err := plan.PinTool(tool, offer.Definitions[tool])
		if err != nil || now.Digest != c.Tools[tool].Digest {
			b.notes = append(b.notes, fmt.Sprintf("%s.%s is not any more what is pinned, which is kept: joy build --update tools takes it over", name, tool))
		}
	}
	if len(c.Tools) == 0 {
		c.Server = offer.Server
	} else if !reflect.DeepEqual(c.Server, offer.Server) {
		b.notes = append(b.notes, fmt.Sprintf("connection %s: the server is another version than the one whose tools are pinned", name))
	}
	for _, action := range missing {
		_, tool := split(action.Value)
		definition, ok := offer.Definitions[tool]
		if !ok {
			b.noTool(action, name, tool, offer)
			continue
		}
		pin, err := plan.PinTool(tool, definition)
		if err != nil {
			b.errs = append(b.errs, b.broken(action, fmt.Errorf("it cannot be pinned: %w", err)))
			continue
		}
		c.Tools[tool] = pin
	}
	b.plan.Connections[name] = c
}

// speakable are names that joy.yaml can spell; a server may have others, which nobody can grant.
var speakable = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// maxListed is how many of a server's tools an error lists.
const maxListed = 30

func (b *builder) noTool(action agent.Text, name, tool string, offer Offer) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(offer.Definitions)), func(n string) bool { return !speakable.MatchString(n) })
	e := b.fail(action.Pos, "%s: the server of connection %s has no tool %q", action.Value, name, tool)
	list := strings.Join(names[:min(len(names), maxListed)], ", ")
	if more := len(offer.Definitions) - min(len(names), maxListed); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	e.Hint = "it has " + cmp.Or(strings.TrimSpace(list), "none at all")
	if near := agent.Near(tool, names); near != "" {
		e.Hint = "did you mean " + near + "? " + e.Hint
	}
}

// broken is the fault of a server whose tool cannot be used, at the line that grants it.
func (b *builder) broken(action agent.Text, err error) *fault.Error {
	e := fault.Wrap(fault.Connection, err, "%s", action.Value).At(b.spec.File, action.Line, action.Col).
		WithHint("the server has to mend its definition; leave the step or grant out until then")
	e.Code = Code
	return e
}

// asks notes every call for which a run would have to ask a person, with the line that grants it.
func (b *builder) asks() {
	for _, s := range b.plan.Steps {
		actions := []string{s.Action}
		if s.Kind != plan.Action {
			actions = nil
			for _, g := range s.Tools {
				actions = append(actions, g.Action)
			}
		}
		actions = slices.DeleteFunc(actions, func(a string) bool { return slices.Contains(b.unpinned, a) || !b.plan.Asks(s, a) })
		if len(actions) > 0 {
			b.notes = append(b.notes, fmt.Sprintf("step %s: a person is asked before %s; to grant it, in joy.yaml: {id: %s, …, approve: granted}, or for one run: --approve %s",
				s.ID, strings.Join(actions, ", "), s.ID, strings.Join(actions, " --approve ")))
		}
	}
}
