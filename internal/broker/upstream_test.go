package broker

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/mcptest"
	"github.com/joystream-ai/joy/internal/secret"
)

// canary is the credential of the connection crm.
const canary = "canary-b5d2c7f09e31"

// definitions are the tools of crm, as its server sends them.
var definitions = []string{
	`{"name":"send","description":"Sends <b>","x-kept":{"b":1.0,"a":18446744073709551615},` +
		`"inputSchema":{"type":"object","required":["to","text"],"properties":{"to":{"type":"string"},"text":{"type":"string"},"n":{"type":"integer"}}}}`,
	`{"name":"look","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}`,
	`{"name":"slow","inputSchema":{"type":"object"}}`,
	`{"name":"one-of","inputSchema":{"type":"object","oneOf":[{"required":["to"]}],"properties":{"to":{}}}}`,
}

// crm is a house that reaches a server as the connection crm, where the plan approves of everything.
func crm(t testing.TB) (*house, *mcptest.Server) {
	t.Helper()
	u := mcptest.New(t, canary, definitions...)
	h := open(t, "run-1")
	require.NoError(t, h.Close()) // what it was made with lacks the connection
	objects, err := artifact.Open(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { _ = objects.Close() })
	cfg := h.cfg
	cfg.Pins, cfg.Approvals, cfg.Objects, cfg.Secrets = Pins{"crm": u.Pin(t)}, "granted", objects, secret.NewSet()
	require.NoError(t, cfg.Secrets.Add("crm-key", []byte(canary)))
	cfg.Connections = []connection.Config{{Name: "crm", URL: u.URL, Bearer: secret.NewValue([]byte(canary))}}
	h.Broker = New(cfg)
	require.True(t, h.Credential("crm-key"))
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
