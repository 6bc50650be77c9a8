//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempt is one request at the door, and what is to come of it.
type attempt struct {
	Name string `json:"name"`
	Head []byte `json:"head"` // sent as it is; TOKEN and BASIC in it become the step's own
	// TLS and Then are what follows in an open tunnel: a ClientHello for that name ("-": for none), or bytes.
	TLS  string `json:"tls,omitempty"`
	Then []byte `json:"then,omitempty"`

	end    string   // refused, cut or open
	why    []string // the reasons on record
	looked int      // names looked up
}

// How an attempt ends.
const (
	refused = "refused" // by an answer
	cut     = "cut"     // a tunnel that was opened
	opened  = "open"
)

// Reasons on record: docs/broker.md.
const (
	notAName   = "not a host name"
	otherPort  = "only port 443 is reached"
	notGranted = "not granted by the plan"
	notPublic  = "the name leads to an address that is not public"
	notTLS     = "what was sent is not TLS"
	otherName  = "the TLS server name is not the host that was asked for"
	plainHTTP  = "plain HTTP is not carried, only TLS"
	noToken    = "no token"
	noRequest  = "not a whole HTTP request"
	unknown    = "unknown or revoked token"
)

// rebinding is what the resolver says of names that are granted and lead where no grant leads.
var rebinding = map[string][][]string{
	"loopback.example.com": {{"127.0.0.1"}},
	"metadata.example.com": {{"169.254.169.254"}},
	"both.example.com":     {{there.String(), "10.0.0.1"}},
	"mapped.example.com":   {{"::ffff:127.0.0.1"}},
	"nat64.example.com":    {{"64:ff9b::a9fe:a9fe"}},
	"flip.example.com":     {{there.String()}, {"127.0.0.1"}},
}

// connectTo is a CONNECT with everything in order but its authority.
func connectTo(authority string) []byte {
	return []byte("CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nProxy-Authorization: Bearer TOKEN\r\n\r\n")
}

func refusal(name string, head []byte, why ...string) attempt {
	return attempt{Name: name, Head: head, end: refused, why: why}
}

// attempts are one of each kind. They are made one after the other.
func attempts() []attempt {
	files := connectTo("files.example.com:443")
	get := func(url string) []byte {
		return []byte("GET " + url + " HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic BASIC\r\n\r\n")
	}
	list := []attempt{
		{Name: "what is granted", Head: files, TLS: "files.example.com", end: opened, looked: 1},
		{Name: "a name that changes its mind", Head: connectTo("flip.example.com:443"), TLS: "flip.example.com", end: opened, looked: 1},

		{Name: "plain HTTP in a tunnel", Head: files, Then: []byte("GET / HTTP/1.1\r\nHost: files.example.com\r\n\r\n"), end: cut, why: []string{notTLS}, looked: 1},
		{Name: "SSH in a tunnel", Head: files, Then: []byte("SSH-2.0-OpenSSH_9.2\r\n"), end: cut, why: []string{notTLS}, looked: 1},
		{Name: "a relayed CONNECT", Head: files, Then: connectTo("evil.com:443"), end: cut, why: []string{notTLS}, looked: 1},
		{Name: "another server name", Head: files, TLS: "evil.com", end: cut, why: []string{otherName}, looked: 1},
		{Name: "no server name", Head: files, TLS: "-", end: cut, why: []string{otherName}, looked: 1},

		refusal("a name that is not granted", connectTo("evil.com:443"), notGranted),
		refusal("a name of another step", connectTo("www.example.com:443"), notGranted),
		refusal("a name below a granted one", connectTo("a.files.example.com:443"), notGranted),
		refusal("a name that ends so", connectTo("evilfiles.example.com:443"), notGranted),
		refusal("the root of a wildcard", connectTo("wild.example.net:443"), notGranted),
		refusal("an address", connectTo("93.184.216.34:443"), notAName),
		refusal("metadata", connectTo("169.254.169.254:443"), notAName),
		refusal("loopback", connectTo("127.0.0.1:443"), notAName),
		refusal("the door itself", connectTo("127.0.0.1:569"), notAName),
		refusal("IPv6", connectTo("[::1]:443"), notAName),
		refusal("plain HTTP's port", connectTo("files.example.com:80"), otherPort),
		refusal("SSH's port", connectTo("files.example.com:22"), otherPort),
		refusal("a port with a zero", connectTo("files.example.com:0443"), otherPort),

		refusal("plain HTTP", get("http://files.example.com/"), plainHTTP),
		refusal("plain HTTP to metadata", get("http://169.254.169.254/latest/meta-data/"), plainHTTP),
		refusal("TLS made by the proxy", get("https://files.example.com/"), plainHTTP),
		refusal("FTP", get("ftp://files.example.com/"), plainHTTP),

		refusal("no token", []byte("CONNECT files.example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"), noToken),
		refusal("the token of another header", []byte("CONNECT files.example.com:443 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n\r\n"), noToken),
		refusal("a forged token", []byte(strings.ReplaceAll(string(files), "TOKEN", forged)), unknown),
		refusal("a path that is a host", []byte("GET //evil.com/ HTTP/1.1\r\nHost: evil.com\r\n\r\n"), noToken),
		refusal("a second request behind a refused one", append([]byte("CONNECT evil.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"), connectTo("evil.com:443")...), noToken, notGranted),

		refusal("a line break in the host", connectTo("evil.com\r\nX: y:443"), noRequest),
		refusal("a space in the host", connectTo("evil.com files.example.com:443"), noRequest),
		refusal("SOCKS 5", []byte("\x05\x01\x00\r\n\r\n"), noRequest),
		refusal("SOCKS 4", []byte("\x04\x01\x01\xbb\x5d\xb8\xd8\x22\x00\r\n\r\n"), noRequest),
		refusal("TLS to the door", []byte("\x16\x03\x01\x00\x05hello\r\n\r\n"), noRequest),
	}
	for _, name := range []string{"flip", "loopback", "metadata", "both", "mapped", "nat64"} {
		a := refusal("rebound: "+name, connectTo(name+".example.com:443"), notPublic)
		a.looked = 1
		list = append(list, a)
	}
	return list
}

// oddHosts asks for each host of the corpus, which is in the test's own words: \0 and the like stand for bytes.
func oddHosts(t *testing.T) (list []attempt) {
	t.Helper()
	b, err := os.ReadFile("../../internal/egress/testdata/odd-hosts.txt")
	require.NoError(t, err)
	bytes := strings.NewReplacer(`\0`, "\x00", `\t`, "\t", `\r`, "\r", `\n`, "\n", `\s`, " ", `\x7f`, "\x7f", `\xff`, "\xff")
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && !strings.HasPrefix(line, "// ") {
			list = append(list, refusal(line, connectTo(bytes.Replace(line)+":443")))
		}
	}
	return list
}
