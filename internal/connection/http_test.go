//go:build linux

package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
)

// web is a server of the SDK over streamable HTTP that wants a bearer.
func web(t *testing.T, token string) *httptest.Server {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "web", Version: "3"}, nil)
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func TestHTTP(t *testing.T) {
	srv := web(t, "canary-of-web")
	c := dial(t, Config{Name: "web", URL: srv.URL, Bearer: secret.NewValue([]byte("canary-of-web"))})
	tools, who, err := c.Tools(t.Context())
	require.NoError(t, err)
	require.Len(t, tools, 1)
	require.Equal(t, Server{"web", "3"}, who)
	res, err := c.Call(t.Context(), "echo", json.RawMessage(`{"n":9007199254740993}`), false)
	require.NoError(t, err)
	require.Contains(t, string(res.Raw), `9007199254740993`)
	_, err = c.Call(t.Context(), "none", nil, false)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrUnknown, "the server said no")
}

func TestRefusedCredential(t *testing.T) {
	srv := web(t, "canary-of-web")
	c := dial(t, Config{Name: "web", URL: srv.URL, Bearer: secret.NewValue([]byte("another-token"))})
	_, _, err := c.Tools(t.Context())
	require.ErrorContains(t, err, "401")
	require.Equal(t, fault.Consent, fault.KindOf(err))
	require.NotContains(t, err.Error(), "another-token")
}

// A credential goes to the origin it is for and nowhere else.
func TestRedirect(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(thief.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, thief.URL+"/mcp", status)
		}))
		c := dial(t, Config{Name: "web", URL: srv.URL, Bearer: secret.NewValue([]byte("canary-of-web"))})
		_, _, err := c.Tools(t.Context())
		require.ErrorContains(t, err, "not followed", status)
		srv.Close()
	}
	require.Empty(t, stolen)
}

func TestBadWebServers(t *testing.T) {
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		want  string
	}{
		"not found": {func(w http.ResponseWriter, _ *http.Request) { http.NotFound(w, nil) }, "connection web"},
		"a page":    {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "connection web"},
		"broken JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, "connection web"},
		"without end": {endless, "16 MiB"},
		"an odd event": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: x\n\n")
		}, "connection web"},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(tc.serve)
			defer srv.Close()
			_, _, err := dial(t, Config{Name: "web", URL: srv.URL}).Tools(t.Context())
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, _, err := dial(t, Config{Name: "web", URL: "http://127.0.0.1:1/mcp"}).Tools(t.Context())
	require.ErrorContains(t, err, "connection refused")
}

func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := []byte(strings.Repeat(" ", 1<<20))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}
