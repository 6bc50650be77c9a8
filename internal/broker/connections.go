package broker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

// open makes the connections and learns what they are trusted with. None is started yet; each is held to its pins at every
// start.
func (b *Broker) open(configs []connection.Config) {
	b.connections, b.named = map[string]*connection.Connection{}, map[string]bool{}
	for _, cfg := range configs {
		name := cfg.Name
		cfg.Secrets = b.cfg.Secrets
		cfg.Check = func(found []connection.Tool) error { return b.checkPins(name, found) }
		b.connections[name] = connection.New(cfg)
		for _, value := range append(values(cfg.Env), cfg.Bearer) {
			// What is too short to be told from plain text was refused when it was resolved.
			_ = b.credentials.Add("connection/"+name, value.Bytes())
			if _, known := b.cfg.Secrets.Redact(value.Bytes()); len(known) > 0 && known[0].Form != secret.Rule {
				b.named[known[0].Name] = true
			}
		}
	}
}

// Start starts or reaches every service of the plan, side by side, and holds each to its pins. A run calls it before its
// first step: a plan is run as a whole or not at all. The errors are those of connection.Connection's Tools, and of kind
// Drift.
func (b *Broker) Start(ctx context.Context) error {
	errs := make([]error, len(b.connections))
	var starting sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(b.connections)) {
		starting.Go(func() { _, _, errs[i] = b.connections[name].Tools(ctx) })
	}
	starting.Wait()
	return errors.Join(errs...)
}

// Credential reports whether a secret of the run's Set is one that a connection is trusted with.
func (b *Broker) Credential(name string) bool { return b.named[name] }

func (b *Broker) hangUp() error {
	errs := make([]error, len(b.connections))
	var ending sync.WaitGroup
	for i, name := range slices.Sorted(maps.Keys(b.connections)) {
		ending.Go(func() { errs[i] = b.connections[name].Close() })
	}
	ending.Wait()
	return errors.Join(errs...)
}

// checkPins holds what a server offers now against what the plan pinned. Every difference goes on record; any of them
// keeps the server from being used.
func (b *Broker) checkPins(name string, found []connection.Tool) error {
	var errs []error
	pins := b.cfg.Pins[name].Tools
	for _, tool := range slices.Sorted(maps.Keys(pins)) {
		pinned := pins[tool].Digest
		i := slices.IndexFunc(found, func(t connection.Tool) bool { return t.Name == tool })
		d := ledger.Data{"action": name + "." + tool, "pinned": pinned}
		switch {
		case i < 0:
			errs = append(errs, fault.New(fault.Drift, "%s.%s: the server has no such tool any more", name, tool).WithHint(hintDrift))
		case found[i].Digest != pinned:
			d["found"] = found[i].Digest
			errs = append(errs, fault.New(fault.Drift, "%s.%s: the server's definition of it is %s and the plan pinned %s", name, tool, found[i].Digest, pinned).
				WithHint(hintDrift))
		default:
			continue
		}
		if _, err := b.cfg.Ledger.Append(ledger.ToolDrifted, "", d); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

const hintDrift = "joy build --update tools shows what changed; run again when it is right"

func values[V any](m map[string]V) []V {
	out := make([]V, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}
