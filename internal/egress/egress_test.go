package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHost(t *testing.T) {
	for authority, want := range map[string]string{
		"example.com:443":      "example.com",
		"EXAMPLE.Com:443":      "example.com",
		"example.com.:443":     "example.com",
		"a-b.c1.example:443":   "a-b.c1.example",
		"xn--bcher-kva.ch:443": "xn--bcher-kva.ch",
	} {
		got, err := Host(authority)
		require.NoError(t, err, authority)
		require.Equal(t, want, got)
	}
}

// Each line of the corpus is a way to write an address, or something that parsers disagree on.
func TestOddHosts(t *testing.T) {
	b, err := os.ReadFile("testdata/odd-hosts.txt")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "// ") {
			continue
		}
		n++
		unquoted := strings.NewReplacer(`\0`, "\x00", `\t`, "\t", `\r`, "\r", `\n`, "\n", `\s`, " ", `\x7f`, "\x7f", `\xff`, "\xff").Replace(line)
		for _, authority := range []string{unquoted + ":443", unquoted} {
			got, err := Host(authority)
			require.Error(t, err, "%q became %q", authority, got)
			var why Denial
			require.ErrorAs(t, err, &why)
		}
	}
	require.GreaterOrEqual(t, n, 200)
}

func TestPublic(t *testing.T) {
	for _, a := range []string{"8.8.8.8", "93.184.216.34", "1.1.1.1", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "2a00::1", "64:ff9b::808:808"} {
		require.True(t, Public(netip.MustParseAddr(a)), a)
	}
	for _, a := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
		"172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
		"224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808",
		"100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
		"fe80::1%eth0", "2606:4700::1111%eth0",
	} {
		require.False(t, Public(netip.MustParseAddr(a)), a)
	}
	require.False(t, Public(netip.Addr{}))
}

func TestResolve(t *testing.T) {
	answer := func(list []string, err error) Dialer {
		return Dialer{Lookup: func(context.Context, string) (out []netip.Addr, _ error) {
			for _, a := range list {
				out = append(out, netip.MustParseAddr(a))
			}
			return out, err
		}}
	}
	for name, tc := range map[string]struct {
		d   Dialer
		why error
	}{
		"an error":   {answer(nil, errors.New("SERVFAIL")), NotFound},
		"no answer":  {answer(nil, nil), NotFound},
		"private":    {answer([]string{"10.0.0.1"}, nil), NotPublic},
		"mixed":      {answer([]string{"8.8.8.8", "10.0.0.1"}, nil), NotPublic},
		"mixed last": {answer(append(strings.Split(strings.Repeat("8.8.8.8,", 40), ",")[:40], "::1"), nil), NotPublic},
	} {
		_, err := tc.d.Resolve(t.Context(), "example.com")
		require.ErrorIs(t, err, tc.why, name)
	}
	got, err := answer([]string{"::ffff:8.8.8.8", "2606:4700::1111"}, nil).Resolve(t.Context(), "example.com")
	require.NoError(t, err)
	require.Equal(t, []netip.Addr{netip.MustParseAddr("8.8.8.8"), netip.MustParseAddr("2606:4700::1111")}, got,
		"a resolver gives IPv4 in its mapped form")
}

// The addresses that were judged are those that are dialed, in their order, until one answers.
func TestConnect(t *testing.T) {
	var tried []string
	d := Dialer{Dial: func(_ context.Context, to netip.AddrPort) (net.Conn, error) {
		tried = append(tried, to.String())
		if to.Addr().Is6() {
			return nil, errors.New("no route")
		}
		mine, theirs := net.Pipe()
		theirs.Close()
		return mine, nil
	}}
	conn, reached, err := d.Connect(t.Context(), []netip.Addr{netip.MustParseAddr("2606:4700::1111"), netip.MustParseAddr("1.1.1.1"), netip.MustParseAddr("8.8.8.8")})
	require.NoError(t, err)
	conn.Close()
	require.Equal(t, "1.1.1.1", reached.String())
	require.Equal(t, []string{"[2606:4700::1111]:443", "1.1.1.1:443"}, tried)
	_, _, err = d.Connect(t.Context(), []netip.Addr{netip.MustParseAddr("2606:4700::1111")})
	require.ErrorIs(t, err, Unreachable)
	_, _, err = d.Connect(t.Context(), nil)
	require.ErrorIs(t, err, Unreachable)
}

// hello is what a TLS client says first.
func hello(t testing.TB, name string) []byte {
	t.Helper()
	mine, theirs := net.Pipe()
	defer theirs.Close()
	go func() {
		_ = tls.Client(mine, &tls.Config{ServerName: name, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}).HandshakeContext(t.Context())
		mine.Close()
	}()
	head := make([]byte, 5)
	_, err := io.ReadFull(theirs, head)
	require.NoError(t, err)
	body := make([]byte, int(head[3])<<8|int(head[4]))
	_, err = io.ReadFull(theirs, body)
	require.NoError(t, err)
	return append(head, body...)
}

func TestReadHello(t *testing.T) {
	whole := hello(t, "Example.com")
	for name, in := range map[string][]byte{
		"nothing": nil, "text": []byte("GET / HTTP/1.1\r\n\r\n"), "half": whole[:len(whole)/2], "an alert": {21, 3, 1, 0, 2, 2, 40},
		"a record of nothing": {22, 3, 1, 0, 0}, "another message": append([]byte{22, 3, 1, 0, 4, 2, 0, 0, 0}, whole...),
	} {
		_, _, err := ReadHello(t.Context(), bytes.NewReader(in))
		require.ErrorIs(t, err, NotTLS, name)
	}
	name, raw, err := ReadHello(t.Context(), io.MultiReader(bytes.NewReader(whole), strings.NewReader("early data")))
	require.NoError(t, err)
	require.Equal(t, "example.com", name)
	require.True(t, bytes.HasPrefix(append(whole, "early data"...), raw), "what was read is what was sent")
	require.GreaterOrEqual(t, len(raw), len(whole))

	// A hello cut into records of a few bytes is the same hello.
	var pieces []byte
	for body := whole[5:]; len(body) > 0; {
		n := min(7, len(body))
		pieces = append(append(pieces, 22, 3, 1, 0, byte(n)), body[:n]...)
		body = body[n:]
	}
	name, raw, err = ReadHello(t.Context(), bytes.NewReader(pieces))
	require.NoError(t, err)
	require.Equal(t, "example.com", name)
	require.Equal(t, pieces, raw)

	name, _, err = ReadHello(t.Context(), bytes.NewReader(hello(t, "")))
	require.NoError(t, err)
	require.Empty(t, name)
}

func FuzzReadHello(f *testing.F) {
	f.Add(hello(f, "example.com"))
	f.Add([]byte("CONNECT example.com:443 HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		_, raw, err := ReadHello(context.Background(), bytes.NewReader(in))
		require.True(t, bytes.HasPrefix(in, raw))
		if err != nil {
			require.ErrorIs(t, err, NotTLS)
		}
	})
}
