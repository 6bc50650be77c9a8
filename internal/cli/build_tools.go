package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// asker gives a build the definitions that it has no pins for. Nothing is started before the user has allowed what the
// project names, and the spec that is judged is the one that was read, not the file as it is by then.
func (a *app) asker(p project) build.Ask {
	return func(ctx context.Context, spec *agent.Spec, names []string) (map[string]build.Offer, error) {
		sub := trust.OfSpec(p.dir, spec)
		if err := a.requireTrust(ctx, sub); err != nil {
			return nil, err
		}
		var list []trust.Connection
		for _, name := range names {
			c, _ := sub.Connection(name)
			list = append(list, c)
		}
		a.detail("asking for tools: %s", strings.Join(names, ", "))
		known := secret.NewScrubber()
		probes, err := a.probeAll(ctx, sub, list, a.resolver(known), known)
		if err != nil {
			return nil, err
		}
		offers := map[string]build.Offer{}
		var errs []error
		for _, probe := range probes {
			name := probe.connection.Name
			offer, err := offerOf(probe, known.Told())
			offers[name] = offer
			for _, e := range fault.All(err) {
				if at := spec.Connections[name].Pos; e.File == "" {
					e = e.At(spec.File, at.Line, at.Col)
				}
				errs = append(errs, e)
			}
		}
		return offers, errors.Join(errs...)
	}
}

// offerOf is what a server offers. A lock is public: a server that puts a credential into what would be pinned is
// refused.
func offerOf(p probe, known *secret.Set) (build.Offer, error) {
	if p.err != nil {
		return build.Offer{}, p.err
	}
	out := build.Offer{Definitions: make(map[string]json.RawMessage, len(p.tools))}
	if p.server != (connection.Server{}) {
		out.Server = &plan.Server{Name: p.server.Name, Version: p.server.Version}
	}
	if _, hits := known.Redact([]byte(p.server.Name + "\n" + p.server.Version)); len(hits) > 0 {
		return out, leaked(p, "its own name")
	}
	for _, t := range p.tools {
		if _, hits := known.Redact(t.Definition); len(hits) > 0 {
			return out, leaked(p, fmt.Sprintf("the definition of a tool (%.12s)", strings.TrimPrefix(t.Digest, "sha256:")))
		}
		out.Definitions[t.Name] = t.Definition
	}
	return out, nil
}

func leaked(p probe, where string) error {
	return fault.New(fault.Policy, "connection %s: the server says a secret back in %s, which would be pinned", p.connection.Name, where).
		WithHint("have the server mended; a secret that was said is better replaced")
}
