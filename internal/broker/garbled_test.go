package broker

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

// What the HTTP server refuses by itself is on record too, before its sender can see that it was refused.
func TestGarbageIsOnRecord(t *testing.T) {
	for name, sent := range map[string]string{
		"a line break in a host": "CONNECT evil.com\r\nX: y:443 HTTP/1.1\r\n\r\n",
		"a space in a host":      "CONNECT evil .com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
		"no host":                "GET /v1/run HTTP/1.1\r\n\r\n",
		"TLS":                    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
		"SOCKS":                  "\x05\x01\x00\r\n",
		"half a request":         "GET /v1/run HTTP/1.1\r\nHost: joy\r\n",
		"an endless head":        "GET / HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 20_000),
		"two lengths":            "POST /v1/call HTTP/1.1\r\nHost: joy\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, "run-1")
			conn := h.loopback(t, "count")
			_, _ = io.WriteString(conn, sent) // it may be cut while it is sent
			half, ok := conn.(*net.TCPConn)
			require.True(t, ok)
			_ = half.CloseWrite()
			requireClosed(t, conn)
			denied := h.entries(t, ledger.EgressDenied)
			require.Len(t, denied, 1)
			require.Equal(t, noRequest, denied[0].String("reason"))
			require.Equal(t, "count", denied[0].Step)
		})
	}
}

// What was cut from this side, or said nothing, is nobody's fault.
func TestSilenceIsNotOnRecord(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	silent, half, done := h.loopback(t, "count"), h.loopback(t, "count"), h.loopback(t, "count")
	require.NoError(t, silent.Close())
	_, err := io.WriteString(half, "GET /v1/run HTTP/1.1\r\n")
	require.NoError(t, err)
	_, err = io.WriteString(done, request(token))
	require.NoError(t, err)
	_, err = http.ReadResponse(bufio.NewReader(done), nil) // a request that is read after the token's end is one without a token
	require.NoError(t, err)
	status, _ := h.get(t, "count", "Authorization: Bearer "+token)
	require.Equal(t, 200, status)
	require.NoError(t, h.Revoke("count"))
	requireClosed(t, half)
	requireClosed(t, done)
	require.NoError(t, h.Close())
	require.Empty(t, h.entries(t, ledger.EgressDenied))
}
