package broker

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/ledger"
)

// public is what the test's resolver says of a granted name; the test's dialer leads it to the origin.
var public = netip.MustParseAddr("93.184.216.34")

// origin is a TLS server under a name of the test's own.
type origin struct {
	*httptest.Server
	pool   *x509.CertPool
	lookup map[string][]string

	mu     sync.Mutex
	asked  []string
	dialed []netip.AddrPort
}

// The entry at the end of a connection is written when both sides have closed: there is no event to wait for but it.
const (
	waitLimit = 10 * time.Second
	waitTick  = 5 * time.Millisecond
)

// newOrigin serves example.com, the name in httptest's certificate, and wires it to h.
func newOrigin(t *testing.T, h *house) *origin {
	t.Helper()
	o := &origin{lookup: map[string][]string{"example.com": {public.String()}, "www.example.com": {public.String()}}}
	o.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s", r.Method, r.Host, body)
	}))
	t.Cleanup(o.Close)
	o.pool = x509.NewCertPool()
	o.pool.AddCert(o.Certificate())
	h.cfg.Dialer = egress.Dialer{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			o.mu.Lock()
			o.asked = append(o.asked, host)
			o.mu.Unlock()
			var out []netip.Addr
			for _, a := range o.lookup[host] {
				out = append(out, netip.MustParseAddr(a))
			}
			return out, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			o.mu.Lock()
			o.dialed = append(o.dialed, to)
			o.mu.Unlock()
			if to.Addr() != public {
				return nil, errors.New("connection refused")
			}
			var d net.Dialer
			return d.DialContext(ctx, "tcp", o.Listener.Addr().String())
		},
	}
	return o
}

func (h *house) grantHosts(t *testing.T, step string, hosts ...string) string {
	t.Helper()
	token, err := h.Issue(step, Terms{Limit: time.Minute, Egress: hosts})
	require.NoError(t, err)
	return token
}

// client is an HTTP client in the step's world, with the proxy variables that it has there.
func (h *house) client(t *testing.T, o *origin, step, token string) *http.Client {
	t.Helper()
	proxy, err := url.Parse("http://joy:" + token + "@127.0.0.1:569")
	require.NoError(t, err)
	tr := &http.Transport{
		Proxy:           http.ProxyURL(proxy),
		DialContext:     func(context.Context, string, string) (net.Conn, error) { return h.loopback(t, step), nil },
		TLSClientConfig: &tls.Config{RootCAs: o.pool, MinVersion: tls.VersionTLS12},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func TestConnect(t *testing.T) {
	h := open(t, "run-1")
	o := newOrigin(t, h)
	c := h.client(t, o, "fetch", h.grantHosts(t, "fetch", "example.com"))
	for _, u := range []string{"https://example.com/", "https://EXAMPLE.com./", "https://example.com:443/x"} {
		res, err := c.Post(u, "text/plain", strings.NewReader("hello"))
		require.NoError(t, err, u)
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Contains(t, string(body), "hello")
		c.CloseIdleConnections()
	}
	require.NoError(t, h.Revoke("fetch"))
	allowed := h.entries(t, ledger.EgressAllowed)
	require.Len(t, allowed, 3)
	require.Equal(t, "example.com", allowed[0].String("host"))
	require.Equal(t, []string{"example.com", "example.com", "example.com"}, o.asked, "one look-up for each connection")
	require.Eventually(t, func() bool { return len(h.entries(t, ledger.EgressClosed)) == 3 }, waitLimit, waitTick)
	closed := h.entries(t, ledger.EgressClosed)[0]
	require.Equal(t, public.String(), closed.String("address"))
	for _, way := range []string{"up", "down"} {
		n, ok := closed.Int(way)
		require.True(t, ok)
		require.Positive(t, n)
	}
	require.Empty(t, h.entries(t, ledger.EgressDenied))
}

// Whatever is asked for, only a granted name is looked up, and only a public address of it is reached.
func TestConnectRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		authority string
		answers   []string // of the resolver
		why       egress.Denial
	}{
		"not granted":          {"other.com:443", nil, egress.NotGranted},
		"its parent":           {"com:443", nil, egress.NotAName},
		"a name below it":      {"a.example.com:443", nil, egress.NotGranted},
		"a name that ends so":  {"evilexample.com:443", nil, egress.NotGranted},
		"the wildcard's root":  {"wild.example.net:443", nil, egress.NotGranted},
		"another port":         {"example.com:80", nil, egress.OtherPort},
		"no port":              {"example.com", nil, egress.NotAName},
		"port with zeros":      {"example.com:0443", nil, egress.OtherPort},
		"IPv4":                 {"93.184.216.34:443", nil, egress.NotAName},
		"loopback":             {"127.0.0.1:443", nil, egress.NotAName},
		"short":                {"127.1:443", nil, egress.NotAName},
		"decimal":              {"2130706433:443", nil, egress.NotAName},
		"octal":                {"0177.0.0.1:443", nil, egress.NotAName},
		"hex":                  {"0x7f.1:443", nil, egress.NotAName},
		"hex in one":           {"0x7f000001:443", nil, egress.NotAName},
		"metadata":             {"169.254.169.254:443", nil, egress.NotAName},
		"IPv6":                 {"[::1]:443", nil, egress.NotAName},
		"IPv6 bare":            {"::1:443", nil, egress.NotAName},
		"mapped":               {"[::ffff:10.0.0.1]:443", nil, egress.NotAName},
		"zone":                 {"[fe80::1%25example.com]:443", nil, egress.NotAName},
		"localhost":            {"localhost:443", nil, egress.NotAName},
		"user":                 {"example.com@evil.com:443", nil, egress.NotAName},
		"fragment":             {"example.com#evil.com:443", nil, egress.NotAName},
		"percent":              {"example%2ecom:443", nil, egress.NotAName},
		"NUL":                  {"example.com%00.evil.com:443", nil, egress.NotAName},
		"two dots":             {"example.com..:443", nil, egress.NotAName},
		"Cyrillic":             {"ex\u0430mple.com:443", nil, egress.NotAName},
		"full width":           {"ｅxample.com:443", nil, egress.NotAName},
		"a star":               {"*.example.com:443", nil, egress.NotAName},
		"no such name":         {"example.com:443", []string{}, egress.NotFound},
		"rebound to loopback":  {"example.com:443", []string{"127.0.0.1"}, egress.NotPublic},
		"rebound to metadata":  {"example.com:443", []string{"169.254.169.254"}, egress.NotPublic},
		"rebound, mixed":       {"example.com:443", []string{public.String(), "10.0.0.1"}, egress.NotPublic},
		"rebound to mapped":    {"example.com:443", []string{"::ffff:127.0.0.1"}, egress.NotPublic},
		"rebound to NAT64":     {"example.com:443", []string{"64:ff9b::7f00:1"}, egress.NotPublic},
		"rebound to ULA":       {"example.com:443", []string{"fd00:ec2::254"}, egress.NotPublic},
		"rebound to multicast": {"example.com:443", []string{"ff02::1"}, egress.NotPublic},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, "run-1")
			o := newOrigin(t, h)
			if tc.answers != nil {
				o.lookup["example.com"] = tc.answers
			}
			token := h.grantHosts(t, "fetch", "example.com", "*.wild.example.net")
			status, body := h.ask(t, "fetch", "CONNECT "+tc.authority+" HTTP/1.1\r\nHost: "+tc.authority+"\r\nProxy-Authorization: Bearer "+token+"\r\n\r\n")
			require.Contains(t, []int{http.StatusForbidden, http.StatusBadRequest}, status)
			require.Empty(t, o.dialed)
			if tc.answers == nil {
				require.Empty(t, o.asked, "a name that is not granted is not looked up")
			}
			if status == http.StatusBadRequest {
				return // the HTTP server itself would not have it
			}
			require.Contains(t, body, "do not retry")
			denied := h.entries(t, ledger.EgressDenied)
			require.Len(t, denied, 1)
			require.Contains(t, denied[0].String("reason"), string(tc.why))
			require.Empty(t, h.entries(t, ledger.EgressAllowed))
		})
	}
}

// In an open tunnel only TLS for the very host passes.
func TestTunnelCarriesOnlyTLSForItsHost(t *testing.T) {
	for name, tc := range map[string]struct {
		talk func(conn net.Conn)
		why  egress.Denial
	}{
		"another name": {func(c net.Conn) {
			_ = tls.Client(c, &tls.Config{ServerName: "evil.com", MinVersion: tls.VersionTLS12}).Handshake()
		}, egress.OtherName},
		"no name": {func(c net.Conn) {
			_ = tls.Client(c, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}).Handshake()
		}, egress.OtherName},
		"plain HTTP":        {func(c net.Conn) { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: example.com\r\n\r\n") }, egress.NotTLS},
		"SSH":               {func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }, egress.NotTLS},
		"relayed CONNECT":   {func(c net.Conn) { _, _ = io.WriteString(c, "CONNECT evil.com:443 HTTP/1.1\r\n\r\n") }, egress.NotTLS},
		"a hello cut short": {func(c net.Conn) { _, _ = io.WriteString(c, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"); c.Close() }, egress.NotTLS},
		"a giant hello": {func(c net.Conn) {
			_, _ = io.WriteString(c, "\x16\x03\x01\x40\x00\x01\xff\xff\xff"+strings.Repeat("\x00", 100_000))
		}, egress.NotTLS},
	} {
		t.Run(name, func(t *testing.T) {
			h := open(t, "run-1")
			newOrigin(t, h)
			token := h.grantHosts(t, "fetch", "example.com")
			conn := h.loopback(t, "fetch")
			_, err := io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Bearer "+token+"\r\n\r\n")
			require.NoError(t, err)
			line, err := bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			require.Contains(t, line, " 200 ")
			go tc.talk(conn)
			require.Eventually(t, func() bool { return len(h.entries(t, ledger.EgressClosed)) == 1 }, waitLimit, waitTick)
			closed := h.entries(t, ledger.EgressClosed)[0]
			require.Equal(t, string(tc.why), closed.String("reason"))
			up, ok := closed.Int("up")
			require.True(t, ok)
			require.Zero(t, up, "not a byte went up")
			require.Len(t, h.entries(t, ledger.EgressDenied), 1)
			requireClosed(t, conn)
		})
	}
}

func TestWildcardNamesAreCounted(t *testing.T) {
	h := open(t, "run-1")
	newOrigin(t, h)
	token := h.grantHosts(t, "fetch", "*.example.net")
	for i := range maxNames + 1 {
		status, body := h.ask(t, "fetch", fmt.Sprintf("CONNECT n%d.example.net:443 HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Bearer %s\r\n\r\n", i, token))
		require.Equal(t, http.StatusForbidden, status)
		want := egress.NotFound
		if i == maxNames {
			want = egress.TooManyNames
		}
		require.Contains(t, body, string(want))
	}
}

// Revoking a step's token cuts what it has open outside.
func TestRevokeCutsTunnels(t *testing.T) {
	h := open(t, "run-1")
	o := newOrigin(t, h)
	token := h.grantHosts(t, "fetch", "example.com")
	conn := h.loopback(t, "fetch")
	_, err := io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\nProxy-Authorization: Bearer "+token+"\r\n\r\n")
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	for line := "-"; strings.TrimSpace(line) != ""; {
		line, err = r.ReadString('\n')
		require.NoError(t, err)
	}
	secure := tls.Client(conn, &tls.Config{ServerName: "example.com", RootCAs: o.pool, MinVersion: tls.VersionTLS12})
	require.NoError(t, secure.Handshake())
	require.NoError(t, h.Revoke("fetch"))
	requireClosed(t, conn)
	require.Eventually(t, func() bool { return len(h.entries(t, ledger.EgressClosed)) == 1 }, waitLimit, waitTick)
}

func TestPlainHTTPIsNotCarried(t *testing.T) {
	h := open(t, "run-1")
	o := newOrigin(t, h)
	token := h.grantHosts(t, "fetch", "example.com")
	status, body := h.ask(t, "fetch", "GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nProxy-Authorization: Bearer "+token+"\r\n\r\n")
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, string(egress.PlainHTTP))
	require.Empty(t, o.dialed)
	require.Len(t, h.entries(t, ledger.EgressDenied), 1)
}
