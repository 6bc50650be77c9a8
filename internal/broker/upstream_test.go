package broker

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// canary is the credential of the connection crm.
const canary = "canary-b5d2c7f09e31"

// definitions are the tools of crm, as its server sends them.
var definitions = map[string]string{
	"send": `{"name":"send","description":"Sends <b>","x-kept":{"b":1.0,"a":18446744073709551615},` +
		`"inputSchema":{"type":"object","required":["to","text"],"properties":{"to":{"type":"string"},"text":{"type":"string"},"n":{"type":"integer"}}}}`,
	"look":   `{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`,
	"slow":   `{"name":"slow","inputSchema":{"type":"object"}}`,
	"one-of": `{"name":"one-of","inputSchema":{"type":"object","oneOf":[{"required":["to"]}],"properties":{"to":{}}}}`,
}

// upstream is a server of the test's own, which wants its credential. answer gives the result of a call.
type upstream struct {
	*httptest.Server
	answer func(r *http.Request, tool string, args json.RawMessage) string

	mu     sync.Mutex
	called []string // tool and arguments, as they came
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{answer: func(*http.Request, string, json.RawMessage) string { return `{"content":[]}` }}
	u.Server = httptest.NewServer(u)
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m message
	if r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+canary {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"crm","version":"7"}}`
	case "tools/list":
		result = `{"tools":[` + strings.Join(values(definitions), ",") + `]}`
	case "tools/call":
		var p struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(m.Params, &p)
		u.mu.Lock()
		u.called = append(u.called, p.Name+" "+string(p.Arguments))
		u.mu.Unlock()
		result = u.answer(r, p.Name, p.Arguments)
	}
	w.Header().Set("Content-Type", "application/json")
	if result == "" {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no %s"}}`, m.ID, m.Method)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (u *upstream) calls() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.called...)
}

// pins are what a plan has pinned of crm.
func (u *upstream) pins(t testing.TB) Pins {
	t.Helper()
	tools := map[string]plan.Tool{}
	for name, def := range definitions {
		raw, err := digest.CanonicalText([]byte(def))
		require.NoError(t, err)
		tools[name] = plan.Tool{Digest: digest.Bytes(raw), Definition: raw}
	}
	return Pins{"crm": {Transport: "http", URL: u.URL, Tools: tools}}
}

// crm is a house that reaches an upstream as the connection crm, where the plan grants everything.
func crm(t testing.TB) (*house, *upstream) {
	t.Helper()
	u := newUpstream(t)
	h := open(t, "run-1")
	require.NoError(t, h.Close()) // what it was made with lacks the connection
	objects, err := artifact.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	secrets := secret.NewSet()
	require.NoError(t, secrets.Add("crm", []byte(canary)))
	cfg := h.cfg
	cfg.Pins, cfg.Approvals, cfg.Objects, cfg.Secrets = u.pins(t), "granted", objects, secrets
	cfg.Connections = []connection.Config{{Name: "crm", URL: u.URL, Bearer: secret.NewValue([]byte(canary))}}
	h.Broker = New(cfg)
	return h, u
}

// kept is the body that an entry's member names.
func (h *house) kept(t testing.TB, body any) string {
	t.Helper()
	m, ok := body.(map[string]any)
	require.True(t, ok)
	name, _ := m["sha256"].(string)
	f, err := h.cfg.Objects.Open(name)
	require.NoError(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(b)
}

// denials are the reasons on record, with their kinds.
func (h *house) denials(t testing.TB) (out []string) {
	t.Helper()
	for _, e := range h.entries(t, ledger.ToolDenied) {
		out = append(out, e.String("action")+": "+e.String("kind")+": "+e.String("reason"))
	}
	return out
}
