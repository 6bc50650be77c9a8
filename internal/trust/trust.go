// Package trust is what a user has allowed a project to do on this machine: which servers it may start and contact, which
// secrets they get, which hosts its VM may reach.
//
// The one rule: nothing that a project names is started, contacted or given a secret before its user has seen exactly that
// and said yes. What is compared is a digest over all of it, so that a change asks again; what is kept is the user's,
// outside of every project.
//
// What is allowed is a command line, not the bytes behind it: those are held by the lock.
package trust

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// Code is the code of the error when something was not allowed.
const Code = "JOY-TRUST"

// SpecName is the file that a project speaks through.
const SpecName = "joy.yaml"

// Subject is all that a project would start, contact and be given. Field order is part of the digest.
type Subject struct {
	Project     string       `json:"-"` // absolute, links resolved; another checkout of the same has the same digest
	Connections []Connection `json:"connections"`
	Model       *Model       `json:"model"` // nil: none is declared
	Hosts       []string     `json:"hosts"` // what the VM may reach through joy; sorted
}

// Connection is one outside service and what it is given.
type Connection struct {
	Name       string   `json:"name"`
	Argv       []string `json:"argv"` // or
	URL        string   `json:"url"`
	Secrets    []Use    `json:"secrets"`    // sorted by As
	Unconfined string   `json:"unconfined"` // the author's reason why it may read and write what the user may
}

// Use is one secret under the name by which it is handed over: a variable, "bearer" or "key".
type Use struct {
	As     string `json:"as"`
	Secret string `json:"secret"`
}

// Model is who answers model steps.
type Model struct {
	Provider string `json:"provider"`
	URL      string `json:"url"`
	Secrets  []Use  `json:"secrets"`
}

// providers are the addresses of model providers that a model without base_url means.
var providers = map[string]string{"anthropic": "https://api.anthropic.com", "openai": "https://api.openai.com"}

// ProviderURL is the address that a model provider has when a plan names none; "" when joy does not know it.
func ProviderURL(provider string) string { return providers[provider] }

// OfDir is the subject of the project at dir (absolute). A single bundle, without a joy.yaml, names nothing. Errors are
// those of agent.Parse.
func OfDir(dir string) (Subject, error) {
	data, err := ordinary.Read(filepath.Join(dir, SpecName), agent.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return subjectAt(dir), nil
	}
	if err != nil {
		return Subject{}, fault.Wrap(fault.Input, err, "read what the project names").At(SpecName, 0, 0)
	}
	s, err := agent.Parse(data, SpecName)
	if err != nil {
		return Subject{}, err
	}
	return OfSpec(dir, s), nil
}

// OfSpec is the subject of a joy.yaml in the project at dir (absolute).
func OfSpec(dir string, s *agent.Spec) Subject {
	out := subjectAt(dir)
	for name, c := range s.Connections {
		conn := Connection{Name: name, Argv: append([]string{}, c.Command...), URL: c.URL, Secrets: uses(c.Env), Unconfined: c.Unconfined}
		if c.Bearer != "" {
			conn.Secrets = append(conn.Secrets, use("bearer", c.Bearer))
		}
		out.Connections = append(out.Connections, conn)
	}
	slices.SortFunc(out.Connections, func(a, b Connection) int { return strings.Compare(a.Name, b.Name) })
	if m := s.Model; m != nil {
		out.Model = &Model{Provider: m.Provider, URL: m.BaseURL, Secrets: []Use{}}
		if m.BaseURL == "" {
			out.Model.URL = providers[m.Provider]
		}
		if m.Key != "" {
			out.Model.Secrets = append(out.Model.Secrets, use("key", m.Key))
		}
	}
	out.Hosts = append(out.Hosts, s.Policy.Egress...)
	slices.Sort(out.Hosts)
	return out
}

// OfPlan is the subject of a plan whose joy.yaml is not at hand, as that of a past run. It equals that of the joy.yaml it was
// frozen from, unless that declares connections which no step uses: those are in no plan.
func OfPlan(dir string, p *plan.Plan) Subject {
	s := &agent.Spec{Connections: map[string]agent.Connection{}, Policy: p.Policy}
	for name, c := range p.Connections {
		conn := agent.Connection{Command: c.Argv, URL: c.URL, Env: map[string]string{}, Unconfined: c.Unconfined}
		for as, ref := range c.Secrets {
			if as == plan.Bearer && c.URL != "" {
				conn.Bearer = ref
			} else {
				conn.Env[as] = ref
			}
		}
		s.Connections[name] = conn
	}
	if m := p.Model; m != nil && m.Provider != "" {
		s.Model = &agent.Model{Provider: m.Provider, BaseURL: m.BaseURL, Key: m.Key}
	}
	return OfSpec(dir, s)
}

func subjectAt(dir string) Subject {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return Subject{Project: filepath.Clean(dir), Connections: []Connection{}, Hosts: []string{}}
}

func uses(env map[string]string) []Use {
	out := []Use{}
	for as, ref := range env {
		out = append(out, use(as, ref))
	}
	slices.SortFunc(out, func(a, b Use) int { return strings.Compare(a.As, b.As) })
	return out
}

func use(as, ref string) Use { return Use{as, strings.TrimPrefix(ref, "secret:")} }

// Empty reports whether there is nothing to allow.
func (s Subject) Empty() bool { return len(s.Connections) == 0 && s.Model == nil && len(s.Hosts) == 0 }

// Digest names what is allowed: sha256:… It does not depend on where the project is.
func (s Subject) Digest() string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // strings alone cannot fail
	return digest.Bytes(append([]byte("joy trust 1\n"), b.Bytes()...))
}

// Origin is where the connection's secrets may go: its URL, or its command in this project.
func (s Subject) Origin(c Connection) (secret.Origin, error) {
	if c.URL != "" {
		return secret.OriginOfURL(c.URL)
	}
	return secret.OriginOfCommand(s.Project, c.Argv), nil
}

// Origin is where the model's key may go.
func (m Model) Origin() (secret.Origin, error) {
	if m.URL == "" {
		return secret.Origin{}, fault.New(fault.Input, "joy does not know the address of the model provider %s", m.Provider).
			WithHint("give model.base_url in joy.yaml")
	}
	return secret.OriginOfURL(m.URL)
}

// Connection finds a connection by name.
func (s Subject) Connection(name string) (Connection, bool) {
	i := slices.IndexFunc(s.Connections, func(c Connection) bool { return c.Name == name })
	if i < 0 {
		return Connection{}, false
	}
	return s.Connections[i], true
}

// Lines say the subject to a person, one thing a line, in an order that does not change. They hold what strangers wrote:
// escape them before they are printed.
func (s Subject) Lines() []string {
	var out []string
	line := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, c := range s.Connections {
		if c.URL != "" {
			line("contact %s for connection %s", c.URL, c.Name)
		} else {
			line("start %s for connection %s", words(c.Argv), c.Name)
		}
		if c.Unconfined != "" {
			line("let connection %s read and write what you may: %s", c.Name, c.Unconfined)
		}
		for _, u := range c.Secrets {
			line("give connection %s the secret %s as %s", c.Name, u.Secret, u.As)
		}
	}
	if m := s.Model; m != nil {
		url := m.URL
		if url == "" {
			url = "an address joy does not know"
		}
		line("contact %s for model provider %s", url, m.Provider)
		for _, u := range m.Secrets {
			line("give model provider %s the secret %s as its %s", m.Provider, u.Secret, u.As)
		}
	}
	for _, h := range s.Hosts {
		line("let the VM reach %s", h)
	}
	return out
}

// words is an argument list in which every argument has a visible beginning and end.
func words(argv []string) string {
	quoted := make([]string, len(argv))
	for i, a := range argv {
		quoted[i] = fmt.Sprintf("%q", a)
	}
	return strings.Join(quoted, " ")
}

// Changes is what is new in s against an earlier one, and what is gone: "+ line", "- line".
func (s Subject) Changes(earlier Subject) []string {
	was, is := earlier.Lines(), s.Lines()
	var out []string
	for _, l := range was {
		if !slices.Contains(is, l) {
			out = append(out, "- "+l)
		}
	}
	for _, l := range is {
		if !slices.Contains(was, l) {
			out = append(out, "+ "+l)
		}
	}
	return out
}
