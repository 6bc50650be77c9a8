package broker

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
)

// maxBody bounds a request to the gateway, in bytes.
const maxBody = 8 << 20

// Versions of the Model Context Protocol (https://modelcontextprotocol.io/specification/versioning) that the gateway
// speaks, newest first. From modern on there is no handshake: a request says of itself what it is.
var versions = []string{modern, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

const (
	modern      = "2026-07-28"
	metaVersion = "io.modelcontextprotocol/protocolVersion"
	metaServer  = "io.modelcontextprotocol/serverInfo"
	metaPrefix  = "io.modelcontextprotocol/"
)

// Codes of errors: of JSON-RPC 2.0 (https://www.jsonrpc.org/specification), and of the protocol from modern on.
const (
	codeParse       = -32700
	codeInvalid     = -32600
	codeNoMethod    = -32601
	codeParams      = -32602
	codeInternal    = -32603
	codeHeaders     = -32020
	codeUnsupported = -32022
)

// rpcError is an error of JSON-RPC, and the HTTP status it is sent with.
type rpcError struct {
	status  int
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func rpcFail(code int, message string) *rpcError {
	return &rpcError{status: http.StatusOK, Code: code, Message: message}
}

// message is what a client sends. A request has an id, a notification has none.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`

	modern bool // its version is modern or later
}

// gateway serves POST /mcp: an MCP server over streamable HTTP, of tools only, for the step whose token was presented.
// It keeps no session, so that the token decides on every request and there is nothing to take back. Every answer is
// one JSON document; it has nothing to say unasked, and so no stream of events.
func (b *Broker) gateway(w http.ResponseWriter, r *http.Request) {
	m, err := readMessage(w, r)
	if err != nil {
		reply(w, m.ID, nil, err)
		return
	}
	if m.ID == nil {
		if m.Method == "notifications/cancelled" {
			b.running.cancel(grantOf(r).step, cancelled(m.Params))
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result, rerr := b.serve(r, m)
	reply(w, m.ID, result, rerr)
}

// serve answers a request.
func (b *Broker) serve(r *http.Request, m message) (json.RawMessage, *rpcError) {
	switch {
	case m.Method == "tools/list":
		return b.listTools(grantOf(r), m)
	case m.Method == "tools/call":
		return b.callTool(r, m)
	case m.Method == "server/discover" && m.modern:
		return discovered, nil
	case m.Method == "initialize" && !m.modern:
		return initialized(m.Params), nil
	case m.Method == "ping" && !m.modern:
		return json.RawMessage("{}"), nil
	}
	err := rpcFail(codeNoMethod, "there is no method "+b.shown(m.Method))
	if m.modern {
		err.status = http.StatusNotFound
	}
	return nil, err
}

func readMessage(w http.ResponseWriter, r *http.Request) (message, *rpcError) {
	var m message
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return m, &rpcError{http.StatusRequestEntityTooLarge, codeInvalid, "a request has at most 8 MiB", nil}
		}
		return m, &rpcError{http.StatusBadRequest, codeParse, "the request could not be read", nil}
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Version != "2.0" || !validID(m.ID) {
		return message{}, &rpcError{http.StatusBadRequest, codeInvalid, "this is not one message of JSON-RPC 2.0", nil}
	}
	return m, m.era(r.Header)
}

// validID holds that an id is a string or a number, or not there.
func validID(id json.RawMessage) bool {
	return id == nil || id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

// era finds the version that a message follows. From modern on the headers repeat what the body says, for those on the
// way that read no further; a message that says two things is refused.
func (m *message) era(h http.Header) *rpcError {
	bad := func(code int, text string, data any) *rpcError {
		return &rpcError{http.StatusBadRequest, code, text, data}
	}
	said := h.Get("Mcp-Protocol-Version")
	if said != "" && !slices.Contains(versions, said) {
		return bad(codeUnsupported, "the protocol version is not supported", map[string]any{"supported": versions, "requested": said})
	}
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
		Name string                     `json:"name"`
	}
	if len(m.Params) > 0 {
		if err := json.Unmarshal(m.Params, &p); err != nil {
			return bad(codeParams, "the parameters are not what the method takes", nil)
		}
	}
	var meta string
	_ = json.Unmarshal(p.Meta[metaVersion], &meta) // not a string: not a version
	if m.modern = said >= modern; !m.modern && meta < modern || m.ID == nil {
		return nil
	}
	switch {
	case meta == "":
		return bad(codeParams, "_meta has no "+metaVersion, nil)
	case meta != said:
		return bad(codeHeaders, "the header Mcp-Protocol-Version is not what the request says", nil)
	case !agrees(h, "Mcp-Method", m.Method):
		return bad(codeHeaders, "the header Mcp-Method is not what the request says", nil)
	case m.Method == "tools/call" && !agrees(h, "Mcp-Name", p.Name):
		return bad(codeHeaders, "the header Mcp-Name is not what the request says", nil)
	}
	return nil
}

// reply writes a result, verbatim, or an error.
func reply(w http.ResponseWriter, id, result json.RawMessage, err *rpcError) {
	if id == nil {
		id = json.RawMessage("null")
	}
	status, body := http.StatusOK, object{{"jsonrpc", json.RawMessage(`"2.0"`)}, {"id", id}}
	if err != nil {
		status = err.status
		text, _ := json.Marshal(err) // strings and numbers
		body = append(body, member{"error", text})
	} else {
		body = append(body, member{"result", result})
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.json())
}
