// Package connection talks to the outside services that a plan names: MCP servers, started as a child of joy or reached
// by URL.
//
// The one rule: a server is a stranger. What it says is bounded, kept exactly as it was said, and used only after it has
// been compared with what the plan pinned; what it may do is what its Config gives it; and nothing of it outlives its
// Connection.
//
// The protocol is https://modelcontextprotocol.io/specification, of which a server is offered tools only: no sampling,
// no elicitation, no roots.
package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
)

// Limits of what a server may say.
const (
	StartLimit = 10 * time.Second // from its start to its list of tools
	MaxMessage = 16 << 20         // bytes of one message
	MaxTools   = 10_000
	maxPages   = 1_000
)

// Config is everything a connection is and may use. Argv or URL, never both.
type Config struct {
	Name string

	Argv       []string                // Argv[0] is a path, or looked up on Path
	Dir        string                  // the project: working directory of the child
	Env        map[string]secret.Value // beside PATH, HOME, TMPDIR and LANG, all that the child gets
	Path       string                  // its PATH; "": the system's directories
	Unconfined string                  // the author's reason why the child may read and write what the user may; "": it may not

	URL    string       // streamable HTTP
	Bearer secret.Value // sent to the URL's origin and nowhere else

	Secrets *secret.Set // scrubs what the server says before it is put into an error. May be nil
	// Check judges the server's tools after every start, before any call. Its error is that of the call that made
	// the connection. May be nil.
	Check func([]Tool) error
}

// Tool is one tool as its server describes it.
type Tool struct {
	Name       string
	Definition json.RawMessage // digest.CanonicalText of what the server sent
	Digest     string          // sha256:… of Definition
}

// Result is the answer to one call.
type Result struct {
	Raw     json.RawMessage // the whole result object, byte for byte
	IsError bool            // the tool says that it failed
}

// ErrUnknown is in the tree of an error after which a call may or may not have had its effect.
var ErrUnknown = errors.New("whether the call took effect is unknown")

var errSilent = fmt.Errorf("no answer within %s", StartLimit)

// Connection is one service. Nothing is started before the first use. It is safe for concurrent use.
type Connection struct {
	cfg Config

	mu      sync.Mutex // held while a session is made
	session *session
	tools   []Tool
	server  Server
	closed  bool
}

// Server is how a server named itself.
type Server struct{ Name, Version string }

// New makes a connection; the caller closes it.
func New(cfg Config) *Connection { return &Connection{cfg: cfg} }

// session is one life of a server.
type session struct {
	*mcp.ClientSession
	child *child        // nil for a URL
	wire  *bearer       // nil for a child
	gone  chan struct{} // closed when the session has ended
}

func (s *session) ended() bool {
	select {
	case <-s.gone:
		return true
	default:
		return false
	}
}

// Tools starts the server when it does not run, and lists its tools, all pages, sorted by name.
func (c *Connection) Tools(ctx context.Context) ([]Tool, Server, error) {
	if _, err := c.live(ctx); err != nil {
		return nil, Server{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools, c.server, nil
}

// Call calls a tool with arguments that are passed on byte for byte. It is tried again, once, on a new start of the
// server when the server was gone before it was asked, or when idempotent says that the tool may be called twice. Any
// other loss is ErrUnknown. A failure that the server itself reports is fault.Connection.
func (c *Connection) Call(ctx context.Context, tool string, args json.RawMessage, idempotent bool) (Result, error) {
	for attempt := 0; ; attempt++ {
		s, err := c.live(ctx)
		if err != nil {
			return Result{}, err
		}
		raw, err := s.call(ctx, tool, args)
		var said *jsonrpc.Error
		switch {
		case err == nil:
			return resultOf(raw)
		case ctx.Err() != nil:
			return Result{}, fmt.Errorf("%w: %w", ErrUnknown, context.Cause(ctx))
		case errors.As(err, &said) || s.refused():
			return Result{}, c.fail(s, err, "the call of "+tool)
		}
		err = c.fail(s, err, "the call of "+tool)
		c.drop(s)
		if !idempotent || attempt > 0 {
			return Result{}, fmt.Errorf("%w: %w", ErrUnknown, err)
		}
	}
}

// drop ends a session that is of no use any more, so that the next use makes another.
func (c *Connection) drop(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == s {
		c.session = nil
	}
	s.end()
}

// live is a session that has not ended, made when there is none.
func (c *Connection) live(ctx context.Context) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, fault.New(fault.Connection, "connection %s is closed", c.cfg.Name)
	}
	if c.session != nil && !c.session.ended() {
		return c.session, nil
	}
	if c.session != nil {
		c.session.end()
		c.session = nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, StartLimit, errSilent)
	defer cancel()
	s, err := c.start(ctx)
	if err != nil {
		return nil, err
	}
	c.session = s
	return s, nil
}

// start begins one life of the server and lets Check judge what it offers.
func (c *Connection) start(ctx context.Context) (*session, error) {
	s, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	tools, err := s.tools(ctx)
	if err != nil {
		err = c.fail(s, withCause(ctx, err), "listing its tools")
		s.end()
		return nil, err
	}
	c.server = Server{}
	if r := s.InitializeResult(); r != nil && r.ServerInfo != nil {
		c.server = Server{r.ServerInfo.Name, r.ServerInfo.Version}
	}
	c.tools = tools
	if c.cfg.Check != nil {
		if err := c.cfg.Check(tools); err != nil {
			s.end()
			return nil, err
		}
	}
	return s, nil
}

// connect starts or reaches the server and agrees on a protocol with it.
func (c *Connection) connect(ctx context.Context) (*session, error) {
	s := &session{gone: make(chan struct{})}
	var transport mcp.Transport
	if c.cfg.URL != "" {
		s.wire = newBearer(c.cfg)
		transport = reach(c.cfg, s.wire)
	} else {
		var err error
		if s.child, err = spawn(c.cfg); err != nil {
			return nil, c.fail(nil, err, "starting it")
		}
		transport = s.child.transport()
	}
	// Empty capabilities: the server is offered nothing. The tools it lists may depend on that, so it is the same
	// wherever joy asks.
	client := mcp.NewClient(&mcp.Implementation{Name: "joy", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(ctx, tap{transport}, nil)
	if err != nil {
		err = c.fail(s, withCause(ctx, err), "the first words with it")
		s.end()
		return nil, err
	}
	s.ClientSession = session
	go func() {
		_ = session.Wait()
		close(s.gone)
	}()
	return s, nil
}

func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// refused reports whether a server by URL would not have joy's credential.
func (s *session) refused() bool { return s.wire != nil && s.wire.refused.Load() != 0 }

// end closes the session and waits until nothing of the server is left.
func (s *session) end() {
	if s.child != nil {
		s.child.hangUp()
	}
	if s.ClientSession != nil {
		_ = s.Close()
	}
	if s.child != nil {
		s.child.end()
	}
}

// Close ends the server. Calls in progress fail.
func (c *Connection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.session != nil {
		c.session.end()
		c.session = nil
	}
	return nil
}

// fail names the connection, its command and the last it said: what a person needs to mend it.
func (c *Connection) fail(s *session, err error, doing string) error {
	what := c.cfg.URL
	if what == "" {
		what = strings.Join(c.cfg.Argv, " ")
	}
	e := fault.Wrap(fault.Connection, err, "connection %s (%s): %s", c.cfg.Name, what, doing)
	if s != nil && s.refused() {
		e.Kind, e.Err = fault.Consent, fmt.Errorf("it answered %d: the credential is missing or refused", s.wire.refused.Load())
	}
	if s != nil && s.child != nil {
		// Giving up closes its input, and then it ends: that is not why. Nor is there another reason for what it said.
		var said *jsonrpc.Error
		if !errors.Is(err, errSilent) && !errors.As(err, &said) {
			if reason := s.child.reason(); reason != nil {
				e.Err = reason
			}
		}
		if said := s.child.last(); len(said) > 0 {
			if c.cfg.Secrets != nil {
				said, _ = c.cfg.Secrets.Redact(said)
			}
			e.Err = fmt.Errorf("%w; its last words: %s", e.Err, said)
		}
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return e.WithHint("install it in one of %s, or give its whole path in connections.%s.command", searchPath(c.cfg), c.cfg.Name)
	case errors.Is(err, errSilent) && len(c.cfg.Argv) > 0 && fetches(c.cfg.Argv[0]):
		return e.WithHint("%s may be fetching the server: install it in the project first (npm ci, uv tool install), so that a start finds it", filepath.Base(c.cfg.Argv[0]))
	}
	return e.WithHint("joy connect test %s", c.cfg.Name)
}

// fetches reports whether a program gets what it starts from a registry when it is not there.
func fetches(program string) bool {
	return slices.Contains([]string{"npx", "uvx", "pipx", "bunx"}, filepath.Base(program))
}
