// Package broker stands between a run and everything outside it. It issues the run token that a step gets, serves the
// one door through which a VM can ask for anything, and makes every call of an action.
//
// The one rule: decide, record, act. A request is judged by the token alone, at the door of the step the token was
// issued for; what cannot be recorded does not happen; a token lives in memory only and is never written or formatted.
package broker

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/record"
	"github.com/joystream-ai/joy/internal/secret"
)

// Grace is how long a token outlives its step's time limit, whatever else happens.
const Grace = 30 * time.Second

// Config is what a broker works for. Ledger and Secrets are shared with the runner.
type Config struct {
	Workspace, Agent, Run string
	Ledger                *ledger.Writer
	Secrets               *secret.Set   // learns each token before its first use
	Dialer                egress.Dialer // reaches granted hosts; zero: the machine's resolver and network
	Pins                  Pins          // the plan's connections
	// Connections are how the services of Pins are reached. The broker makes and closes them; none is started before
	// Start or its first call.
	Connections []connection.Config
	// Answers, when set, answers calls in place of the connections, of which none is started then. It is given the arguments
	// without a known secret in them.
	Answers   func(ctx context.Context, step, action string, args json.RawMessage) (connection.Result, error)
	Objects   *artifact.Store  // keeps arguments and results; nil: only their digests are on record
	Approvals string           // policy.approvals
	Approver  Approver         // nil: there is nobody to ask
	Now       func() time.Time // nil: time.Now. Tokens are judged by this clock alone, never by the VM's
	Rand      io.Reader        // nil: crypto/rand
}

// Broker serves one run. It is safe for concurrent use.
type Broker struct {
	cfg         Config
	scribe      record.Scribe
	server      *http.Server
	doors       *doors
	connections map[string]*connection.Connection
	credentials *secret.Set     // what the connections are trusted with
	named       map[string]bool // the names that Secrets has for those
	schemas     sync.Map        // of actions' arguments, compiled
	running     running         // calls from the doors
	life        context.Context // ends with the broker
	end         context.CancelFunc

	mu       sync.Mutex
	tokens   map[[sha256.Size]byte]*grant
	accounts map[string]*account // by step
	closed   bool
}

// Terms are what a step's token is good for.
type Terms struct {
	Limit  time.Duration // of the step; the token dies Grace later
	Egress []string      // hosts, as policy.CheckHost has them; none: nothing is reached
	Tools  []plan.Grant  // the actions it may call
	// Approve is the step's own word on approval: "", ask or granted.
	Approve string
	// Breach is told, once in a step's life, that the step's door was closed for good and why: the step should end, with
	// that as its failure. ErrCredential in it ends the run. May be nil.
	Breach func(why error)
}

// grant is what a token opens. Only the token's hash is kept.
type grant struct {
	id      string // names the token in the ledger: the first 8 hex digits of its hash
	step    string
	terms   Terms
	issued  time.Time
	expires time.Time
}

// idleLimit is how long a connection of a step may be open without a word.
const idleLimit = 5 * time.Minute

// New makes the broker of a run. The caller closes it when the run ends.
func New(cfg Config) *Broker {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	b := &Broker{cfg: cfg, scribe: record.Scribe{Secrets: cfg.Secrets, Objects: cfg.Objects}, credentials: secret.NewSet(), tokens: map[[sha256.Size]byte]*grant{}, accounts: map[string]*account{}}
	b.life, b.end = context.WithCancel(context.Background())
	b.doors = newDoors(func(step string) { b.record(step, ledger.Data{"to": "joy", "reason": noRequest}) })
	b.open(cfg.Connections)
	b.server = &http.Server{
		Handler: understood(b.handler()), ConnContext: doorOf, ConnState: heard,
		ReadHeaderTimeout: time.Minute, IdleTimeout: idleLimit, MaxHeaderBytes: 64 << 10,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" too needs a token
		// What net/http would log holds the VM's own words, and stderr is for people.
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	go func() { _ = b.server.Serve(b.doors) }() // returns when Close is called
	return b
}

// Issue mints the token of a step, which dies with Revoke and at the latest Grace after terms.Limit. The token is registered
// with the secrets before it is returned, and its issue is on record.
func (b *Broker) Issue(step string, terms Terms) (string, error) {
	token, err := newToken(b.cfg.Rand)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256([]byte(token))
	now := b.cfg.Now()
	g := &grant{id: hex.EncodeToString(hash[:4]), step: step, terms: terms, issued: now, expires: now.Add(terms.Limit + Grace)}
	if err := b.cfg.Secrets.Add("run-token", []byte(token)); err != nil {
		return "", fmt.Errorf("registering the run token: %w", err)
	}
	if _, err := b.cfg.Ledger.Effect(ledger.TokenIssued, step, ledger.Data{
		"token": g.id, "workspace": b.cfg.Workspace, "agent": b.cfg.Agent, "expires": stamp(g.expires),
	}); err != nil {
		return "", err
	}
	b.account(step).begin(terms.Breach)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errors.New("minting a run token: the broker is closed")
	}
	b.tokens[hash] = g
	return token, nil
}

// Revoke ends a step's tokens at once and cuts what is open at its door. It is not an error when there are none.
func (b *Broker) Revoke(step string) error {
	var ids []string
	b.mu.Lock()
	for hash, g := range b.tokens {
		if g.step == step {
			delete(b.tokens, hash)
			ids = append(ids, g.id)
		}
	}
	b.mu.Unlock()
	b.doors.cut(step)
	if len(ids) > 0 {
		b.account(step).drain()
	}
	var errs []error
	for _, id := range ids {
		_, err := b.cfg.Ledger.Append(ledger.TokenRevoked, step, ledger.Data{"token": id})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Serve takes over a connection that was made at step's door and closes it: see sandbox.Spec.Door.
func (b *Broker) Serve(step string, conn net.Conn) { b.doors.add(step, conn) }

// Close revokes every token and ends every connection. Afterwards nothing is issued and nothing is served.
func (b *Broker) Close() error {
	b.mu.Lock()
	b.closed = true
	steps := map[string]bool{}
	for _, g := range b.tokens {
		steps[g.step] = true
	}
	b.mu.Unlock()
	b.end()
	var errs []error
	for step := range steps {
		errs = append(errs, b.Revoke(step))
	}
	errs = append(errs, b.server.Close(), b.doors.Close())
	return errors.Join(append(errs, b.hangUp())...)
}

// find is the grant of a token presented at step's door, or why there is none. The words are for the record; the
// caller is told only that it is not authorized.
func (b *Broker) find(step, token string) (*grant, string) {
	if !wellFormed(token) {
		return nil, "not a run token"
	}
	if b.account(step).isClosed() {
		return nil, "the step's door is closed"
	}
	hash := sha256.Sum256([]byte(token))
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.tokens[hash]
	switch {
	case g == nil:
		return nil, "unknown or revoked token"
	case g.step != step:
		return nil, "another step's token"
	case !b.cfg.Now().Before(g.expires):
		return nil, "expired token"
	}
	return g, ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

type doorKey struct{}

// noRequest is the reason on record for bytes that the HTTP server itself refused, or that ended early.
const noRequest = "not a whole HTTP request"

func withGrant(ctx context.Context, g *grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}
