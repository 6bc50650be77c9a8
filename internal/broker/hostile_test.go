package broker

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

// memory is a broker that leaves nothing behind, for a bubble's clock.
func memory(t testing.TB, record io.Writer) *Broker {
	t.Helper()
	led, err := ledger.Memory("run-1", "sha256:"+strings.Repeat("0", 64), ledger.Options{Tee: record})
	require.NoError(t, err)
	_, err = led.Append(ledger.RunStarted, "", ledger.Data{})
	require.NoError(t, err)
	return New(Config{Workspace: "acme", Agent: "weekly", Run: "run-1", Ledger: led, Secrets: secret.NewSet()})
}

// A client that never ends its headers does not hold a connection for ever, nor one that says nothing more.
func TestSlowClientsAreEnded(t *testing.T) {
	for name, first := range map[string]string{
		"silent from the start": "",
		"headers byte by byte":  "GET /v1/run HTTP/1.1\r\nX: ",
		"idle after a request":  "GET /v1/run HTTP/1.1\r\nHost: joy\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := memory(t, nil)
				defer b.Close()
				mine, theirs := net.Pipe()
				b.Serve("count", theirs)
				var client sync.WaitGroup
				client.Go(func() {
					_, _ = io.WriteString(mine, first)
					for strings.HasSuffix(first, "X: ") {
						time.Sleep(5 * time.Second)
						if _, err := mine.Write([]byte("x")); err != nil {
							return
						}
					}
				})
				begun := time.Now()
				_, _ = io.Copy(io.Discard, mine)
				require.LessOrEqual(t, time.Since(begun), 6*time.Minute)
				mine.Close()
				client.Wait()
			})
		})
	}
}

// What has an open tunnel may take its time to say whom it wants, but not for ever.
func TestTunnelThatWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		waits time.Duration
		why   string
	}{
		"nearly too long": {idleLimit - time.Second, ""},
		"too long":        {idleLimit + time.Second, string(egress.NoTunnelReply)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var record bytes.Buffer
				b := memory(t, &record)
				upstream, origin := net.Pipe()
				b.cfg.Dialer = egress.Dialer{
					Lookup: func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{public}, nil },
					Dial:   func(context.Context, netip.AddrPort) (net.Conn, error) { return upstream, nil },
				}
				token, err := b.Issue("fetch", Terms{Limit: time.Hour, Egress: []string{"example.com"}})
				require.NoError(t, err)
				mine, theirs := net.Pipe()
				b.Serve("fetch", theirs)
				_, err = io.WriteString(mine, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Bearer "+token+"\r\n\r\n")
				require.NoError(t, err)
				answer := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
				_, err = io.ReadFull(mine, answer)
				require.NoError(t, err)
				time.Sleep(tc.waits)
				var client sync.WaitGroup
				client.Go(func() {
					_ = tls.Client(mine, &tls.Config{ServerName: "example.com", MinVersion: tls.VersionTLS12}).Handshake()
				})
				n, _ := origin.Read(make([]byte, 1))
				require.Equal(t, tc.why == "", n == 1, "the hello went up")
				mine.Close()
				origin.Close()
				client.Wait()
				require.NoError(t, b.Close())
				require.NoError(t, b.cfg.Ledger.Close())
				require.Equal(t, tc.why != "", strings.Contains(record.String(), `"reason":"`+tc.why+`"`), "%s", &record)
			})
		})
	}
}

func TestGiantHeaders(t *testing.T) {
	h := open(t, "run-1")
	status, _ := h.get(t, "count", "X-Big: "+strings.Repeat("x", 1<<20))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status)
}

// However requests are run into one another, each needs a token of its own.
func TestNoRequestRidesOnAnother(t *testing.T) {
	const plain = "GET /v1/run HTTP/1.1\r\nHost: joy\r\n\r\n"
	for name, extra := range map[string]string{
		"pipelined":             "\r\n" + plain,
		"in a body":             "Content-Length: 37\r\n\r\n" + plain,
		"after a shorter body":  "Content-Length: 1\r\n\r\nx" + plain,
		"two lengths":           "Content-Length: 0\r\nContent-Length: 37\r\n\r\n" + plain,
		"length and chunks":     "Content-Length: 37\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + plain,
		"unknown encoding":      "Transfer-Encoding: xchunked\r\n\r\n" + plain,
		"space before a colon":  "Content-Length : 37\r\n\r\n" + plain,
		"folded header":         "X: a\r\n b\r\n\r\n" + plain,
		"length with a sign":    "Content-Length: +37\r\n\r\n" + plain,
		"line feed in a header": "X: a\nY: b\r\n\r\n" + plain,
		"upgrade":               "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n" + plain,
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, "run-1")
			conn := h.dial(t, "count")
			asked := strings.TrimSuffix(request(h.issue(t, "count")), "\r\n") + extra
			go func() {
				_, _ = io.WriteString(conn, asked)
				_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: joy\r\nConnection: close\r\n\r\n")
			}()
			var statuses []int
			for answers := bufio.NewReader(conn); ; {
				res, err := http.ReadResponse(answers, nil)
				if err != nil {
					break
				}
				_, _ = io.Copy(io.Discard, res.Body)
				statuses = append(statuses, res.StatusCode)
			}
			require.NotEmpty(t, statuses)
			for _, status := range statuses[1:] {
				require.NotEqual(t, http.StatusOK, status)
			}
		})
	}
}

// Whatever bytes a VM sends, nothing is answered with success that had no token, and the record holds.
func FuzzDoor(f *testing.F) {
	for _, s := range []string{
		"GET /v1/run HTTP/1.1\r\nHost: joy\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: joy\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "\x16\x03\x01", "GET", "CONNECT a:1 HTTP/1.1\r\n\r\n",
		"GET /v1/run HTTP/1.1\r\nHost: joy\r\nAuthorization: Bearer joyrt_\r\nOrigin: x\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	b := memory(f, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		mine, theirs := net.Pipe()
		b.Serve("count", theirs)
		go func() {
			_, _ = mine.Write(raw)
			_, _ = io.WriteString(mine, "\r\n\r\nGET / HTTP/1.1\r\nHost: joy\r\nConnection: close\r\n\r\n")
			_ = mine.SetReadDeadline(time.Now().Add(2 * time.Second))
		}()
		answer, _ := io.ReadAll(mine)
		mine.Close()
		require.NotContains(t, string(answer), "HTTP/1.1 2")
		require.NotContains(t, string(answer), "HTTP/1.0 2")
	})
}
