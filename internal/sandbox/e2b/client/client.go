// Package client speaks to E2B and to servers of its shape: the API that creates and ends sandboxes, and the daemon in
// each sandbox that starts processes and carries files. It stands on the standard library and x/net alone, and knows
// nothing of joy.
//
// The one rule: the caller always knows what is known. A request that may have taken effect is told from one that has
// not (ErrUnknown), a stream that was cut from a process that has ended (ErrCut), and a key appears in no error, no
// format and no redirect to another origin.
package client

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// DefaultDomain is that of the hosted service.
const DefaultDomain = "e2b.app"

// Variables are the names of the environment that Config reads (https://e2b.dev/docs).
const (
	EnvKey        = "E2B_API_KEY"
	EnvDomain     = "E2B_DOMAIN"
	EnvAPIURL     = "E2B_API_URL"
	EnvSandboxURL = "E2B_SANDBOX_URL"
)

// Config is where E2B is and who asks. Empty fields have defaults.
type Config struct {
	Key        Secret
	Domain     string // DefaultDomain
	APIURL     string // https://api.<domain>
	SandboxURL string // for the daemons of all sandboxes; by default made of the sandbox's domain
	Proxy      func(*url.URL) (*url.URL, error)
	Agent      string // User-Agent; it must not look like a browser's
}

// FromEnv reads the variables above and HTTPS_PROXY, HTTP_PROXY and NO_PROXY in both cases.
func FromEnv(lookup func(string) (string, bool)) Config {
	get := func(names ...string) string {
		for _, name := range names {
			if v, ok := lookup(name); ok && v != "" {
				return v
			}
		}
		return ""
	}
	proxy := httpproxy.Config{
		HTTPProxy: get("HTTP_PROXY", "http_proxy"), HTTPSProxy: get("HTTPS_PROXY", "https_proxy"), NoProxy: get("NO_PROXY", "no_proxy"),
		CGI: get("REQUEST_METHOD") != "",
	}
	return Config{
		Key: Secret(get(EnvKey)), Domain: get(EnvDomain), APIURL: get(EnvAPIURL), SandboxURL: get(EnvSandboxURL),
		Proxy: proxy.ProxyFunc(),
	}
}

// Client is one account at one place. It is safe for concurrent use.
type Client struct {
	key        *Secret // behind a pointer: fmt calls no method of a field that is not exported
	api        *url.URL
	domain     string
	sandboxURL *url.URL // nil: made of the domain
	agent      string
	http       *http.Client
	wait       func(time.Duration) <-chan time.Time // time.After
}

// New checks cfg and contacts nobody. A missing key is ErrKey.
func New(cfg Config) (*Client, error) {
	if cfg.Key == "" {
		return nil, &Error{Op: "finding the key", Kind: ErrKey, Message: EnvKey + " is not set"}
	}
	if !visible(string(cfg.Key)) {
		return nil, &Error{Op: "reading the key", Kind: ErrKey, Message: EnvKey + " has characters that no key has"}
	}
	c := &Client{key: &cfg.Key, domain: cfg.Domain, agent: cfg.Agent, wait: time.After}
	if c.domain == "" {
		c.domain = DefaultDomain
	}
	if strings.ContainsAny(c.domain, "/@:?# ") {
		return nil, fmt.Errorf("%s %q is not a domain", EnvDomain, c.domain)
	}
	if c.agent == "" {
		c.agent = "joy"
	}
	address := cfg.APIURL
	if address == "" {
		address = "https://api." + c.domain
	}
	var err error
	if c.api, err = origin(EnvAPIURL, address); err != nil {
		return nil, err
	}
	if cfg.SandboxURL != "" {
		if c.sandboxURL, err = origin(EnvSandboxURL, cfg.SandboxURL); err != nil {
			return nil, err
		}
	}
	c.http = newHTTP(cfg.Proxy)
	return c, nil
}

// Place names the service that c speaks to: the host of its API, with the port if that is not the scheme's own.
func (c *Client) Place() string { return c.api.Host }

// CloseIdle closes connections that nothing uses: one of them may have died unnoticed.
func (c *Client) CloseIdle() { c.http.CloseIdleConnections() }

// origin parses an http or https URL that may have a path. It must hold no credential: URLs are shown.
func origin(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is not a URL", name)
	case u.User != nil:
		return nil, fmt.Errorf("%s has a user name in it, which would be shown", name)
	case u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s %q is not an address of the form https://host[:port]", name, text)
	case u.Scheme == "http" && !local(u.Hostname()):
		return nil, fmt.Errorf("%s %q would send the key in the clear; http is for this machine alone", name, text)
	}
	u.Path = strings.TrimSuffix(u.Path, "/")
	return u, nil
}

// local is a host that the key can reach in the clear without leaving the machine.
func local(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

// visible is a text of printable ASCII without spaces, which a header can carry.
func visible(s string) bool {
	for _, r := range s {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return s != ""
}
