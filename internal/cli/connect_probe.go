package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

func newConnectTestCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "test [NAME]",
		Short: "Start or reach the connections of this project, and list their tools",
		Long: "test gives each connection its secrets, starts or reaches it, and lists its tools. No tool is called and no secret is\n" +
			"shown. It needs joy trust.",
		Args: argsBetween(0, 1, "the name of a connection"),
		Example: "  joy connect test\n" +
			"  joy connect test drive --json",
		RunE: func(cmd *cobra.Command, args []string) error { return a.connectTest(cmd.Context(), firstArg(args)) },
	}
}

// probe is what came of starting one connection.
type probe struct {
	connection trust.Connection
	server     connection.Server
	tools      []connection.Tool
	err        error
}

// probeAll starts connections side by side, lists their tools and ends them. The caller has held that the project is trusted.
func (a *app) probeAll(ctx context.Context, sub trust.Subject, list []trust.Connection, r *secret.Resolver, known *secret.Set) ([]probe, error) {
	policies, err := a.policies()
	if err != nil {
		return nil, err
	}
	out := make([]probe, len(list))
	var all sync.WaitGroup
	for i, c := range list {
		all.Go(func() {
			out[i].connection = c
			if out[i].err = policies.Connection(c.Name, c.Argv, c.URL, c.Unconfined); out[i].err != nil {
				return
			}
			cfg, err := connectionConfig(ctx, sub, c, r, known)
			if err != nil {
				out[i].err = err
				return
			}
			conn := connection.New(cfg)
			out[i].tools, out[i].server, err = conn.Tools(ctx)
			out[i].err = scrubbed(errors.Join(err, conn.Close()), known)
		})
	}
	all.Wait()
	return out, nil
}

// connectionConfig resolves what a connection is given.
func connectionConfig(ctx context.Context, sub trust.Subject, c trust.Connection, r *secret.Resolver, known *secret.Set) (connection.Config, error) {
	cfg := connection.Config{
		Name: c.Name, Argv: c.Argv, Dir: filepath.Clean(sub.Project), Env: map[string]secret.Value{}, Unconfined: c.Unconfined,
		URL: c.URL, Secrets: known,
	}
	origin, err := sub.Origin(c)
	if err != nil {
		return cfg, err
	}
	for _, u := range c.Secrets {
		value, err := r.Resolve(ctx, u.Secret, origin)
		switch {
		case err != nil:
			return cfg, err
		case c.URL != "":
			cfg.Bearer = value
		default:
			cfg.Env[u.As] = value
		}
	}
	return cfg, nil
}

// scrubbed is err without any known secret: a server puts into an error what it likes.
func scrubbed(err error, known *secret.Set) error {
	for _, e := range fault.All(err) {
		msg, _ := known.Redact([]byte(e.Msg))
		e.Msg = string(msg)
		if e.Err == nil {
			continue
		}
		if text, hits := known.Redact([]byte(e.Err.Error())); len(hits) > 0 {
			e.Err = errors.New(string(text))
		}
	}
	return err
}

type probeJSON struct {
	Name    string   `json:"name"`
	Server  string   `json:"server"`
	Version string   `json:"version"`
	Tools   []string `json:"tools"`
	Error   string   `json:"error,omitempty"`
}

func (a *app) connectTest(ctx context.Context, name string) error {
	sub, err := a.subject("")
	if err != nil {
		return err
	}
	list := sub.Connections
	if name != "" {
		c, ok := sub.Connection(name)
		if !ok {
			return noConnection(name, sub)
		}
		list = []trust.Connection{c}
	}
	if len(list) == 0 {
		a.say("joy.yaml declares no connections")
	}
	if err := a.requireTrust(ctx, sub); err != nil {
		return err
	}
	known := secret.NewScrubber()
	probes, err := a.probeAll(ctx, sub, list, a.resolver(known), known)
	if err != nil {
		return err
	}
	var failed []error
	docs := []probeJSON{}
	for _, p := range probes {
		docs = append(docs, p.json(known))
		failed = append(failed, p.err)
	}
	err = errors.Join(failed...)
	if a.json {
		return errors.Join(a.printJSON(map[string]any{"schema": "joy.connect-test/1", "ok": err == nil, "connections": docs}), exit(exitCode(err)))
	}
	return errors.Join(a.printProbes(docs), err)
}

// json is the probe for a reader: a server may say its own credential back.
func (p probe) json(known *secret.Set) probeJSON {
	clean := func(s string) string {
		b, _ := known.Redact([]byte(s))
		return string(b)
	}
	out := probeJSON{Name: p.connection.Name, Server: clean(p.server.Name), Version: clean(p.server.Version), Tools: []string{}}
	for _, t := range p.tools {
		out.Tools = append(out.Tools, clean(t.Name))
	}
	if p.err != nil {
		out.Error = clean(p.err.Error())
	}
	return out
}

func (a *app) printProbes(docs []probeJSON) error {
	if len(docs) == 0 {
		return nil
	}
	t := a.out.newTable("CONNECTION", "STATE", "SERVER", "TOOLS")
	for _, d := range docs {
		state := cell{text: "ok", style: &a.out.good}
		if d.Error != "" {
			state = cell{text: "fail", style: &a.out.fail}
		}
		t.row(cell{text: d.Name}, state, cell{text: strings.TrimSpace(d.Server + " " + d.Version)}, cell{text: fmt.Sprintf("%d", len(d.Tools))})
		for _, tool := range d.Tools {
			t.row(plain("", "", "", tool)...)
		}
	}
	return t.print()
}
