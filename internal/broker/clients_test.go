package broker

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/nodetest"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// listen makes step's door a port of this machine, for programs of other makers.
func (h *house) listen(t testing.TB, step string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go h.Serve(step, conn)
		}
	}()
	return "http://" + l.Addr().String() + "/mcp"
}

// The official clients for Node, of both eras of the protocol.
func TestNodeClients(t *testing.T) {
	node, modules := nodetest.Node(t), nodetest.Modules(t)
	source, err := os.ReadFile("testdata/client.mjs")
	require.NoError(t, err)
	for which, version := range map[string]string{"sdk": "2025-11-25", "client": "2026-07-28"} {
		t.Run(which, func(t *testing.T) {
			h, u := crm(t)
			slow := make(chan struct{})
			u.Answer = func(r *http.Request, tool string, _ json.RawMessage) string {
				if tool == "slow" {
					<-r.Context().Done()
					close(slow)
				}
				return `{"content":[{"type":"text","text":"` + tool + `"}],"structuredContent":{"n":1}}`
			}
			c := h.caller(t, append(grants, plan.Grant{Action: "crm.slow"})...)
			dir, err := os.MkdirTemp(filepath.Dir(modules), "test-") //nolint:usetesting // a script imports only what is installed above it
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			script := filepath.Join(dir, "client.mjs")
			require.NoError(t, os.WriteFile(script, source, 0o600))
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, script, which, h.listen(t, "tell"), c.token)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			require.NoError(t, err)
			require.JSONEq(t, `{
				"server": "joy", "version": "`+version+`",
				"tools": [["crm.send", ["n", "text"]], ["crm.look", []], ["crm.slow", []]],
				"look": {"error": false, "text": "look"}, "send": {"error": false, "text": "send"},
				"fixed": {"error": true, "text": "denied by plan, do not retry: the plan fixes its argument \"to\", which a call cannot give"},
				"unknown": {"code": -32602, "message": "`+map[string]string{"sdk": "MCP error -32602: ", "client": ""}[which]+`unknown tool: crm.one-of"},
				"slow": "given up"
			}`, string(out))
			<-slow // the call at the server has ended
		})
	}
}

// A second broker is a connection like another: its step's run token is the bearer. The Go SDK's client is the one that
// joy has for connections.
func TestBrokerAsConnection(t *testing.T) {
	far, u := crm(t)
	u.Answer = func(*http.Request, string, json.RawMessage) string {
		return `{"structuredContent":{"n":9007199254740993},"content":[]}`
	}
	token := far.caller(t, grants...).token
	url := far.listen(t, "tell")

	c := connection.New(connection.Config{Name: "far", URL: url, Bearer: secret.NewValue([]byte(token))})
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	tools, server, err := c.Tools(t.Context())
	require.NoError(t, err)
	require.Equal(t, "joy", server.Name)
	require.Len(t, tools, 2)
	require.Equal(t, "crm.look", tools[0].Name)
	res, err := c.Call(t.Context(), "crm.look", json.RawMessage(`{}`), true)
	require.NoError(t, err)
	require.Contains(t, string(res.Raw), `"n":9007199254740993`)

	near := open(t, "run-2")
	require.NoError(t, near.Close())
	cfg := near.cfg
	cfg.Approvals = "granted"
	cfg.Pins = Pins{"far": {URL: url, Tools: map[string]plan.Tool{"crm.look": {Digest: tools[0].Digest, Definition: tools[0].Definition}}}}
	cfg.Connections = []connection.Config{{Name: "far", URL: url, Bearer: secret.NewValue([]byte(token))}}
	near.Broker = New(cfg)
	_, err = near.Call(t.Context(), call("far.crm.look", ""))
	require.NoError(t, err)
	require.Len(t, far.entries(t, ledger.ToolRequested), 2)

	// Revoking cuts what is open: a call on a connection that was kept would meet the cut and not the refusal.
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, far.Revoke("tell"))
	_, err = near.Call(t.Context(), call("far.crm.look", ""))
	require.ErrorContains(t, err, "the credential is missing or refused")
}

// The SDK's own client negotiates the newest version that it knows.
func TestGoClient(t *testing.T) {
	h, _ := crm(t)
	c := h.caller(t, grants...)
	transport := &mcp.StreamableClientTransport{Endpoint: h.listen(t, "tell"), HTTPClient: &http.Client{Transport: bearer(c.token)}}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	require.Equal(t, modern, session.InitializeResult().ProtocolVersion)
	list, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, list.Tools, 2)
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "crm.look"})
	require.NoError(t, err)
	require.False(t, res.IsError)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "crm.one-of"})
	require.ErrorContains(t, err, "unknown tool: crm.one-of")
	require.NoError(t, session.Close())
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
