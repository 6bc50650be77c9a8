package broker

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// grants are what the step tell may call.
var grants = []plan.Grant{
	{Action: "crm.send", With: json.RawMessage(`{"to":"team"}`), MaxCalls: 2},
	{Action: "crm.look"},
}

// caller is a client in the step tell.
type caller struct {
	http.Client
	token string
}

func (h *house) caller(t testing.TB, tools ...plan.Grant) *caller {
	t.Helper()
	token, err := h.Issue("tell", Terms{Limit: time.Minute, Tools: tools})
	require.NoError(t, err)
	tr := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return h.loopback(t, "tell"), nil }}
	t.Cleanup(tr.CloseIdleConnections)
	return &caller{http.Client{Transport: tr}, token}
}

func (c *caller) do(t testing.TB, method, path, body string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:569"+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+c.token)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := c.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

func rpc(id, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
}

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestGatewayProtocol(t *testing.T) {
	h, _ := crm(t)
	c := h.caller(t, grants...)
	modernHeader := []string{"Mcp-Protocol-Version", modern}
	for name, tc := range map[string]struct {
		method, body string
		headers      []string
		status       int
		want         string
	}{
		"a stream of events":     {method: "GET", status: 405},
		"the end of a session":   {method: "DELETE", status: 405},
		"no JSON":                {body: "{", status: 400, want: `"code":-32600`},
		"a list of requests":     {body: "[" + rpc("1", "ping", "{}") + "]", status: 400, want: `"code":-32600`},
		"another JSON-RPC":       {body: `{"jsonrpc":"1.0","id":1,"method":"ping"}`, status: 400, want: `"code":-32600`},
		"an id of no kind":       {body: rpc("{}", "ping", "{}"), status: 400, want: `"code":-32600`},
		"no method":              {body: `{"jsonrpc":"2.0","id":"a"}`, status: 200, want: `"id":"a","error":{"code":-32601`},
		"unknown method":         {body: rpc("1", "resources/list", "{}"), status: 200, want: `"code":-32601`},
		"unknown method, modern": {body: rpc("1", "resources/list", "{"+modernMeta+"}"), headers: modernHeader, status: 404, want: `"code":-32601`},
		"no handshake in modern": {body: rpc("1", "initialize", "{"+modernMeta+"}"), headers: modernHeader, status: 404, want: `"code":-32601`},
		"discover before modern": {body: rpc("1", "server/discover", "{}"), status: 200, want: `"code":-32601`},
		"a version to come":      {body: rpc("1", "ping", "{}"), headers: []string{"Mcp-Protocol-Version", "2027-01-01"}, status: 400, want: `"code":-32022`},
		"meta without a header":  {body: rpc("1", "tools/list", "{"+modernMeta+"}"), status: 400, want: `"code":-32020`},
		"a header without meta":  {body: rpc("1", "tools/list", "{}"), headers: modernHeader, status: 400, want: `"code":-32602`},
		"another method above":   {body: rpc("1", "tools/list", "{"+modernMeta+"}"), headers: append(modernHeader, "Mcp-Method", "ping"), status: 400, want: "Mcp-Method"},
		"another tool above": {
			body:    rpc("1", "tools/call", `{"name":"crm.send",`+modernMeta+"}"),
			headers: append(modernHeader, "Mcp-Name", "=?base64?Y3JtLmxvb2s=?="), status: 400, want: "Mcp-Name",
		},
		"parameters of no kind": {body: rpc("1", "tools/list", "[]"), status: 400, want: `"code":-32602`},
		"a call of nothing":     {body: rpc("1", "tools/call", "{}"), status: 200, want: `"code":-32602`},
		"too much":              {body: rpc("1", "ping", `{"a":"`+strings.Repeat("x", maxBody)+`"}`), status: 413, want: "8 MiB"},

		"a notification": {body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, status: 202},
		"ping":           {body: rpc("18446744073709551615", "ping", "{}"), status: 200, want: `"id":18446744073709551615,"result":{}`},
		"initialize":     {body: rpc("1", "initialize", `{"protocolVersion":"2025-03-26"}`), status: 200, want: `"protocolVersion":"2025-03-26"`},
		"too new to shake hands": {
			body: rpc("1", "initialize", `{"protocolVersion":"2026-07-28"}`), status: 200, want: `"protocolVersion":"2025-11-25"`,
		},
		"discover": {body: rpc("1", "server/discover", "{"+modernMeta+"}"), headers: modernHeader, status: 200, want: `"supportedVersions":["2026-07-28",`},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.method == "" {
				tc.method = "POST"
			}
			status, body := c.do(t, tc.method, "/mcp", tc.body, tc.headers...)
			require.Equal(t, tc.status, status, body)
			require.Contains(t, body, tc.want)
			if tc.want != "" {
				require.True(t, json.Valid([]byte(body)), body)
			}
		})
	}
	require.Empty(t, h.entries(t, ledger.ToolRequested))
}

// A step sees what its plan grants it, as it was pinned, and nothing of what the plan fixes.
func TestGatewayList(t *testing.T) {
	h, u := crm(t)
	c := h.caller(t, grants...)
	_, body := c.do(t, "POST", "/mcp", rpc("1", "tools/list", "{}"))
	send := `{"description":"Sends <b>","inputSchema":{"properties":{"n":{"type":"integer"},"text":{"type":"string"}},"required":["text"],"type":"object"},` +
		`"name":"crm.send","x-kept":{"a":18446744073709551615,"b":1.0}}`
	look := `{"annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"},"name":"crm.look"}`
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[`+send+`,`+look+`]}}`, body)
	_, body = c.do(t, "POST", "/mcp", rpc("1", "tools/list", "{"+modernMeta+"}"), "Mcp-Protocol-Version", modern)
	require.Contains(t, body, look+`],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`)

	_, body = c.do(t, "GET", "/v1/tools", "")
	require.JSONEq(t, `{"tools":[{"action":"crm.send","fixed":{"to":"team"},"calls_left":2,"definition":`+send+`},
		{"action":"crm.look","fixed":{},"calls_left":-1,"definition":`+look+`}]}`, body)
	require.Empty(t, u.Calls(), "the server was not even started")

	none := h.caller(t)
	_, body = none.do(t, "POST", "/mcp", rpc("1", "tools/list", "{}"))
	require.Equal(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`, body)
	uncut := h.caller(t, plan.Grant{Action: "crm.one-of", With: json.RawMessage(`{"to":1}`)})
	_, body = uncut.do(t, "POST", "/mcp", rpc("1", "tools/list", "{}"))
	require.Contains(t, body, "oneOf at its top")
}

func TestGatewayCall(t *testing.T) {
	h, u := crm(t)
	u.Answer = func(_ *http.Request, tool string, _ json.RawMessage) string {
		if tool == "look" {
			return `{"b":1.0,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{},"own":9007199254740993},"content":[]}`
		}
		return `{"isError":true,"content":[{"type":"text","text":"no such team"}]}`
	}
	c := h.caller(t, grants...)
	ask := func(name, args string, headers ...string) string {
		meta := ""
		if len(headers) > 0 {
			meta = "," + modernMeta
		}
		_, body := c.do(t, "POST", "/mcp", rpc("7", "tools/call", `{"name":"`+name+`","arguments":`+args+meta+`}`), headers...)
		return strings.TrimSuffix(strings.TrimPrefix(body, `{"jsonrpc":"2.0","id":7,`), "}")
	}
	require.Equal(t, `"result":{"b":1.0,"_meta":{"own":9007199254740993},"content":[]}`, ask("crm.look", `{}`))
	require.Equal(t, `"result":{"b":1.0,"_meta":{"own":9007199254740993},"content":[],"resultType":"complete"}`,
		ask("crm.look", `{}`, "Mcp-Protocol-Version", modern, "Mcp-Name", "crm.look"))
	require.Equal(t, `"result":{"isError":true,"content":[{"type":"text","text":"no such team"}]}`, ask("crm.send", `{"text":"x"}`))
	require.Equal(t, `send {"text":"x","to":"team"}`, u.Calls()[2])

	require.Contains(t, ask("crm.send", `{"text":"x","to":"all"}`), `"isError":true`)
	require.Contains(t, ask("crm.send", `{"text":1}`), `do not match its inputSchema`)
	require.Contains(t, ask("crm.send", `{"text":"y"}`), `no such team`)
	require.Contains(t, ask("crm.send", `{"text":"z"}`), `denied by plan, do not retry`)
	require.Equal(t, `"error":{"code":-32602,"message":"unknown tool: crm.one-of"}`, ask("crm.one-of", `{}`))
	require.Equal(t, `"error":{"code":-32602,"message":"unknown tool: send"}`, ask("send", `{}`))
	require.Len(t, u.Calls(), 4)
	require.Len(t, h.denials(t), 5)
	require.Equal(t, 4, h.Denied("tell").Calls, "arguments that do not fit are no denial")
}

func TestPostCall(t *testing.T) {
	h, u := crm(t)
	c := h.caller(t, append(grants, plan.Grant{Action: "gone.x"})...)
	for name, tc := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"no JSON":       {`{`, 400, `"code":"input"`},
		"no action":     {`{}`, 400, `"code":"input"`},
		"not granted":   {`{"action":"crm.one-of"}`, 403, `"code":"denied"`},
		"not pinned":    {`{"action":"gone.x"}`, 403, `"code":"denied"`},
		"fixed":         {`{"action":"crm.send","arguments":{"to":"a","text":"b"}}`, 403, `"code":"denied"`},
		"not its input": {`{"action":"crm.send","arguments":{}}`, 400, `"code":"input"`},
		"made":          {`{"action":"crm.look","arguments":null}`, 200, `{"content":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := c.do(t, "POST", "/v1/call", tc.body)
			require.Equal(t, tc.status, status)
			require.Contains(t, body, tc.want)
		})
	}
	u.Close()
	status, body := c.do(t, "POST", "/v1/call", `{"action":"crm.look"}`)
	require.Contains(t, []int{http.StatusBadGateway, http.StatusGatewayTimeout}, status)
	require.NotContains(t, body, u.URL, "where a server is, is not the VM's to know")
}

// A call ends when its client does not want it any more, and when its step ends.
func TestCallsEnd(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, h *house, c *caller, gone func()){
		"cancelled": func(t *testing.T, _ *house, c *caller, _ func()) {
			c.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
		},
		"the step ended":     func(t *testing.T, h *house, _ *caller, _ func()) { require.NoError(t, h.Revoke("tell")) },
		"the run ended":      func(t *testing.T, h *house, _ *caller, _ func()) { require.NoError(t, h.Close()) },
		"the client is gone": func(_ *testing.T, _ *house, _ *caller, gone func()) { gone() },
	} {
		t.Run(name, func(t *testing.T) {
			h, u := crm(t)
			begun, over := make(chan struct{}), make(chan struct{})
			u.Answer = func(r *http.Request, _ string, _ json.RawMessage) string {
				close(begun)
				<-r.Context().Done()
				close(over)
				return `{}`
			}
			c := h.caller(t, grants...)
			ctx, gone := context.WithCancel(t.Context())
			defer gone()
			var waiting sync.WaitGroup
			waiting.Go(func() {
				body := strings.NewReader(rpc("7", "tools/call", `{"name":"crm.look"}`))
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:569/mcp", body)
				req.Header.Set("Authorization", "Bearer "+c.token)
				if res, err := c.Do(req); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					_ = res.Body.Close()
				}
			})
			<-begun
			end(t, h, c, gone)
			<-over
			waiting.Wait()
			require.Len(t, h.entries(t, ledger.ToolRequested), 1)
			require.Empty(t, h.entries(t, ledger.ToolReturned), "nobody knows")
		})
	}
}

// Many calls at once are all answered, each with its own answer.
func TestParallelCalls(t *testing.T) {
	h, u := crm(t)
	u.Answer = func(_ *http.Request, _ string, args json.RawMessage) string {
		return `{"structuredContent":` + string(args) + `,"content":[]}`
	}
	c := h.caller(t, plan.Grant{Action: "crm.look"})
	answers := make([]string, 200)
	var calls sync.WaitGroup
	for i := range answers {
		calls.Go(func() {
			_, answers[i] = c.do(t, "POST", "/mcp", rpc("1", "tools/call", fmt.Sprintf(`{"name":"crm.look","arguments":{"n":%d}}`, i)))
		})
	}
	calls.Wait()
	for i, answer := range answers {
		require.Equal(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"n":%d},"content":[]}}`, i), answer)
	}
	require.NoError(t, h.Revoke("tell"))
	require.Len(t, h.entries(t, ledger.ToolReturned), len(answers))
}
