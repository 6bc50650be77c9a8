// Package mcptest is an MCP server over streamable HTTP for tests that must see each byte of a call and choose each byte
// of the answer. Where a test needs a server as others write them, it takes one of nodetest's.
package mcptest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/plan"
)

// Server has the tools of Definitions, which are raw JSON. It answers every request that has the bearer.
type Server struct {
	URL         string
	Bearer      string
	Definitions []string
	// Answer gives the raw result of a call; r ends with the client's interest. Nil: no content.
	Answer func(r *http.Request, tool string, args json.RawMessage) string

	http *httptest.Server
	mu   sync.Mutex
	made []string
}

// New starts a server that ends with the test.
func New(t testing.TB, bearer string, definitions ...string) *Server {
	t.Helper()
	s := &Server{Bearer: bearer, Definitions: definitions}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(s.http.Close)
	return s
}

// Close ends the server before the test does.
func (s *Server) Close() { s.http.Close() }

// Calls are the calls so far: the tool, a space, and the arguments as they came.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.made...)
}

// Pin is what a plan pins of this server.
func (s *Server) Pin(t testing.TB) plan.Connection {
	t.Helper()
	tools := map[string]plan.Tool{}
	for _, def := range s.Definitions {
		raw, err := digest.CanonicalText([]byte(def))
		require.NoError(t, err)
		var head struct{ Name string }
		require.NoError(t, json.Unmarshal(raw, &head))
		tools[head.Name] = plan.Tool{Digest: digest.Bytes(raw), Definition: raw}
	}
	return plan.Connection{Transport: "http", URL: s.URL, Tools: tools}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"params"`
	}
	switch err := json.Unmarshal(body, &m); {
	case r.Method != http.MethodPost || err != nil:
		http.Error(w, "POST only", http.StatusMethodNotAllowed)
		return
	case r.Header.Get("Authorization") != "Bearer "+s.Bearer:
		http.Error(w, "no", http.StatusUnauthorized)
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := fmt.Sprintf(`"error":{"code":-32601,"message":"no %s"}`, m.Method)
	switch m.Method {
	case "initialize":
		answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"test","version":"7"}}`
	case "tools/list":
		list, _ := json.Marshal(rawList(s.Definitions))
		answer = `"result":{"tools":` + string(list) + `}`
	case "tools/call":
		s.mu.Lock()
		s.made = append(s.made, m.Params.Name+" "+string(m.Params.Arguments))
		s.mu.Unlock()
		answer = `"result":{"content":[]}`
		if s.Answer != nil {
			answer = `"result":` + s.Answer(r, m.Params.Name, m.Params.Arguments)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
}

func rawList(definitions []string) []json.RawMessage {
	list := make([]json.RawMessage, len(definitions))
	for i, def := range definitions {
		list[i] = json.RawMessage(def)
	}
	return list
}
