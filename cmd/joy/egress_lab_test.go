//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/cli"
	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/image"
)

// outside is the Internet of a test: names, their addresses, and one TLS server that stands for all of them. It sees
// every look-up and every connection that joy makes.
type outside struct {
	server *httptest.Server
	ca     string // PEM, for the VM to trust
	names  map[string][][]string

	mu     sync.Mutex
	asked  []string
	dialed []netip.AddrPort
}

// there is the address of every name that has none of its own.
var there = netip.MustParseAddr("93.184.216.34")

// newOutside serves h under hosts, and under any name that is asked for with SNI: a wrong one must not be caught here.
func newOutside(t *testing.T, h http.Handler, hosts ...string) *outside {
	t.Helper()
	o := &outside{names: map[string][][]string{}}
	for _, host := range hosts {
		o.names[host] = [][]string{{there.String()}}
	}
	cert, ca := newCertificate(t, hosts)
	o.ca = ca
	o.server = httptest.NewUnstartedServer(h)
	o.server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	o.server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	o.server.StartTLS()
	t.Cleanup(o.server.Close)
	return o
}

// dialer is what the broker gets. A name with several answers gives one after the other, and the last for good.
func (o *outside) dialer() egress.Dialer {
	return egress.Dialer{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.asked = append(o.asked, host)
			answers := o.names[host]
			if len(answers) == 0 {
				return nil, errors.New("no such host")
			}
			if len(answers) > 1 {
				o.names[host] = answers[1:]
			}
			var list []netip.Addr
			for _, a := range answers[0] {
				list = append(list, netip.MustParseAddr(a))
			}
			return list, nil
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			o.mu.Lock()
			o.dialed = append(o.dialed, to)
			o.mu.Unlock()
			if to != netip.AddrPortFrom(there, 443) {
				return nil, errors.New("connection refused")
			}
			return new(net.Dialer).DialContext(ctx, "tcp", o.server.Listener.Addr().String())
		},
	}
}

// seen is what was looked up and what was connected to so far.
func (o *outside) seen() (asked []string, dialed []netip.AddrPort) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append(asked, o.asked...), append(dialed, o.dialed...)
}

// newCertificate is a server's certificate for hosts and the authority it is by.
func newCertificate(t *testing.T, hosts []string) (tls.Certificate, string) {
	t.Helper()
	now := time.Now()
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the test's own authority"}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: hosts[0]}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		DNSNames: hosts, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	require.NoError(t, err)
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	require.NoError(t, err)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER})
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}, string(ca)
}

// runOutside runs joy in this process, where it can be given an Internet of the test's own: no flag and no variable
// could do that.
func (b *bench) runOutside(ctx context.Context, o *outside, args ...string) (code int, stdout, stderr string) {
	b.t.Helper()
	b.allow()
	var out, errs bytes.Buffer
	code = cli.Main(ctx, args, cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: b.dir, Egress: o.dialer(),
		LookupEnv: func(key string) (string, bool) {
			for _, pair := range b.env {
				if value, ok := strings.CutPrefix(pair, key+"="); ok {
					return value, true
				}
			}
			return "", false
		},
	})
	return code, out.String(), errs.String()
}

// needImage is needVM for a test that needs more than the tiny image.
func needImage(t *testing.T, profile string) {
	t.Helper()
	needVM(t)
	_, err := image.Latest(testerCache()+"/joy", profile)
	require.NoError(t, err, "run script/test, which builds the images")
}

// reasons counts what egress.denied entries say, those of one step.
func reasons(entries []entry, step string) map[string]int {
	count := map[string]int{}
	for _, e := range only(entries, "egress.denied") {
		if e.Step == step {
			count[e.Data["reason"].(string)]++
		}
	}
	return count
}
