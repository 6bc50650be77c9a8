package broker

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
)

func TestRefused(t *testing.T) {
	bearer := func(token string) string { return "Authorization: Bearer " + token }
	for name, tc := range map[string]struct {
		headers func(t *testing.T, h *house) []string
		why     string
	}{
		"no token":    {func(*testing.T, *house) []string { return nil }, "no token"},
		"empty":       {func(*testing.T, *house) []string { return []string{"Authorization:"} }, "not one bearer token"},
		"no scheme":   {func(t *testing.T, h *house) []string { return []string{"Authorization: " + h.issue(t, "count")} }, "not one bearer token"},
		"Basic":       {func(*testing.T, *house) []string { return []string{"Authorization: Basic am95OmpveQ=="} }, "not one bearer token"},
		"no value":    {func(*testing.T, *house) []string { return []string{"Authorization: Bearer "} }, "not a run token"},
		"not a token": {func(*testing.T, *house) []string { return []string{bearer("hello")} }, "not a run token"},
		"two tokens": {func(t *testing.T, h *house) []string {
			return []string{bearer(h.issue(t, "count")), bearer(h.issue(t, "count"))}
		}, "not one bearer token"},
		"changed": {func(t *testing.T, h *house) []string {
			token := []byte(h.issue(t, "count"))
			token[10] ^= 1
			return []string{bearer(string(token))}
		}, "not a run token"},
		"never issued": {func(t *testing.T, _ *house) []string {
			token, err := newToken(strings.NewReader(strings.Repeat("guess", 10)))
			require.NoError(t, err)
			return []string{bearer(token)}
		}, "unknown or revoked token"},
		"of another run": {func(t *testing.T, _ *house) []string {
			return []string{bearer(open(t, "run-2").issue(t, "count"))}
		}, "unknown or revoked token"},
		"revoked": {func(t *testing.T, h *house) []string {
			token := h.issue(t, "count")
			require.NoError(t, h.Revoke("count"))
			return []string{bearer(token)}
		}, "unknown or revoked token"},
		"of another step": {func(t *testing.T, h *house) []string { return []string{bearer(h.issue(t, "render"))} }, "another step's token"},
		"expired": {func(t *testing.T, h *house) []string {
			token := h.issue(t, "count")
			h.elapsed.Store(int64(time.Minute + Grace))
			return []string{bearer(token)}
		}, "expired token"},
		"from a web page": {func(t *testing.T, h *house) []string {
			return []string{bearer(h.issue(t, "count")), "Origin: http://127.0.0.1"}
		}, "a request made by a web page"},
		"from an opaque page": {func(t *testing.T, h *house) []string {
			return []string{bearer(h.issue(t, "count")), "Origin:"}
		}, "a request made by a web page"},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, "run-1")
			headers := tc.headers(t, h)
			status, body := h.get(t, "count", headers...)
			require.Equal(t, http.StatusUnauthorized, status)
			require.NotContains(t, body, tc.why, "the VM is not told what was wrong")
			denied := h.entries(t, ledger.EgressDenied)
			require.Len(t, denied, 1)
			require.Equal(t, "count", denied[0].Step)
			require.Equal(t, tc.why, denied[0].String("reason"))
			require.NotContains(t, h.record(t), "joyrt_")
		})
	}
}

// Whatever is asked for, the token is asked for first.
func TestEveryMethodNeedsAToken(t *testing.T) {
	for _, line := range []string{
		"GET / HTTP/1.1", "HEAD /v1/run HTTP/1.1", "OPTIONS * HTTP/1.1", "OPTIONS /v1/run HTTP/1.1", "POST /v1/run HTTP/1.1",
		"CONNECT example.com:443 HTTP/1.1", "GET http://example.com/ HTTP/1.1", "GET //v1/run HTTP/1.1", "GET /a/../v1/run HTTP/1.1",
		"PRI /v1/run HTTP/1.1", "GET /v1/run HTTP/1.0",
	} {
		t.Run(line, func(t *testing.T) {
			h := open(t, "run-1")
			conn := h.dial(t, "count")
			go func() { _, _ = io.WriteString(conn, line+"\r\nHost: joy\r\n\r\n") }()
			got, err := bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			proxied := strings.HasPrefix(line, "CONNECT") || strings.Contains(line, "http://")
			require.Contains(t, got, map[bool]string{true: " 407 ", false: " 401 "}[proxied])
			require.Len(t, h.entries(t, ledger.EgressDenied), 1)
		})
	}
}

// A refused request cannot put a token, or much of anything, on record.
func TestRefusedWordsAreScrubbed(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	var encoded strings.Builder
	for i := range token {
		encoded.WriteString("%" + string("0123456789ABCDEF"[token[i]>>4]) + string("0123456789ABCDEF"[token[i]&15]))
	}
	for _, line := range []string{
		token + " / HTTP/1.1",
		"GET /" + token + " HTTP/1.1",
		"GET /x/" + encoded.String() + " HTTP/1.1",
		"CONNECT " + token + ":443 HTTP/1.1",
		strings.Repeat("M", 4000) + " /" + strings.Repeat("p", 50_000) + " HTTP/1.1",
		"GET /%00%1b%5d0;x%07%ff HTTP/1.1",
	} {
		status, _ := h.ask(t, "count", line+"\r\nHost: joy\r\n\r\n")
		require.Contains(t, []int{http.StatusUnauthorized, http.StatusProxyAuthRequired}, status)
	}
	require.NotContains(t, h.record(t), token)
	denied := h.entries(t, ledger.EgressDenied)
	require.Len(t, denied, 6)
	require.Equal(t, "[REDACTED:run-token]", denied[0].String("method"))
	for _, e := range denied {
		require.Less(t, len(e.Raw), 2_000)
	}
}

// A step that goes on asking for what it may not have loses its door, and the run is told once.
func TestTooManyRefusalsCloseTheDoor(t *testing.T) {
	h := open(t, "run-1")
	var told []error
	token, err := h.Issue("count", Terms{Limit: time.Minute, Breach: func(why error) { told = append(told, why) }})
	require.NoError(t, err)
	conn := h.dial(t, "count")
	go func() {
		for range maxDenials + 20 {
			if _, err := io.WriteString(conn, "GET /v1/run HTTP/1.1\r\nHost: joy\r\n\r\n"); err != nil {
				return
			}
		}
	}()
	answers := bufio.NewReader(conn)
	n := 0
	for ; ; n++ {
		res, err := http.ReadResponse(answers, nil)
		if err != nil {
			break
		}
		_, _ = io.Copy(io.Discard, res.Body)
		require.Equal(t, http.StatusUnauthorized, res.StatusCode)
	}
	require.InDelta(t, maxDenials, n, 1, "the answer to the last one may be cut with the door")
	denied := h.entries(t, ledger.EgressDenied)
	require.Len(t, denied, maxDenials)
	require.Empty(t, denied[maxDenials-2].String("note"))
	require.Contains(t, denied[maxDenials-1].String("note"), "door closes")
	require.Len(t, told, 1)
	require.Equal(t, fault.Policy, fault.KindOf(told[0]))

	status, _ := h.get(t, "count", "Authorization: Bearer "+token)
	require.Equal(t, http.StatusUnauthorized, status, "the step's token opens nothing any more")
	require.Len(t, told, 1)
	_, _ = h.get(t, "render")
	require.Len(t, h.entries(t, ledger.EgressDenied), maxDenials+1, "another step has a count of its own")
}
