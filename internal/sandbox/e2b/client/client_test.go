package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  Config
		says string
	}{
		"no key":                   {Config{}, "E2B_API_KEY is not set"},
		"a key over two lines":     {Config{Key: "e2b_\n1"}, "characters that no key has"},
		"a domain with a path":     {Config{Key: testKey, Domain: "e2b.app/x"}, "is not a domain"},
		"a domain with a user":     {Config{Key: testKey, Domain: "a@e2b.app"}, "is not a domain"},
		"no scheme":                {Config{Key: testKey, APIURL: "api.e2b.app"}, "E2B_API_URL"},
		"a file":                   {Config{Key: testKey, APIURL: "file:///etc"}, "not an address"},
		"a password":               {Config{Key: testKey, APIURL: "https://u:canary@api.e2b.app"}, "has a user name"},
		"a query":                  {Config{Key: testKey, APIURL: "https://api.e2b.app?x=1"}, "not an address"},
		"the key in the clear":     {Config{Key: testKey, APIURL: "http://api.e2b.app"}, "in the clear"},
		"the daemon's, likewise":   {Config{Key: testKey, SandboxURL: "http://10.0.0.7"}, "E2B_SANDBOX_URL"},
		"what only looks like one": {Config{Key: testKey, APIURL: "http://localhost.example.com"}, "in the clear"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.cfg)
			require.ErrorContains(t, err, test.says)
			require.NotContains(t, err.Error(), "canary")
		})
	}
}

func TestFromEnv(t *testing.T) {
	env := map[string]string{
		EnvKey: testKey, EnvDomain: "e2b.example.com", EnvAPIURL: "https://api.example.com", EnvSandboxURL: "https://sandbox.example.com",
		"https_proxy": "http://proxy.example.com:3128", "NO_PROXY": "direct.example.com",
	}
	cfg := FromEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok })
	require.Equal(t, Secret(testKey), cfg.Key)
	for target, want := range map[string]string{"https://api.example.com": "http://proxy.example.com:3128", "https://direct.example.com": ""} {
		u, _ := url.Parse(target)
		proxy, err := cfg.Proxy(u)
		require.NoError(t, err)
		got := ""
		if proxy != nil {
			got = proxy.String()
		}
		require.Equal(t, want, got)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	require.Equal(t, "api.example.com", c.Place())

	delete(env, EnvAPIURL)
	c, err = New(FromEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok }))
	require.NoError(t, err)
	require.Equal(t, "api.e2b.example.com", c.Place())
}

// A request goes through the proxy that the environment names.
func TestProxy(t *testing.T) {
	var asked string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.Method + " " + r.Host
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(proxy.Close)
	env := map[string]string{EnvKey: testKey, "HTTPS_PROXY": proxy.URL}
	c, err := New(FromEnv(func(k string) (string, bool) { v, ok := env[k]; return v, ok }))
	require.NoError(t, err)
	_, err = c.Create(t.Context(), CreateRequest{Template: "base", Lease: 60e9})
	require.Error(t, err)
	require.Equal(t, "CONNECT api.e2b.app:443", asked)
}

func TestSecretIsNeverShown(t *testing.T) {
	c, err := New(Config{Key: testKey})
	require.NoError(t, err)
	s := Secret(testKey)
	d, err := c.Daemon(Created{ID: "i1", Daemon: "0.6.13", AccessToken: s}, "root")
	require.NoError(t, err)
	encoded, err := json.Marshal(map[string]any{"key": s, "created": Created{AccessToken: s}})
	require.NoError(t, err)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", s, "created", Created{AccessToken: s})
	shown := string(encoded) + log.String() + fmt.Sprintf("%s %v %q %x %d %+v %#v %v", s, s, s, s, s, Created{AccessToken: s}, Config{Key: s}, &s) + fmt.Sprintf("%+v %#v %+v %#v", c, c, *c, d)
	require.NotContains(t, shown, testKey[4:])
	require.NotContains(t, shown, fmt.Sprintf("%x", testKey))
	require.Contains(t, shown, hidden)
}

// The key goes nowhere but to its own origin, whatever the server says, and is in no error.
func TestRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("asked at another origin, with the key %q", r.Header.Get("X-API-Key"))
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL+r.URL.Path, status) })
		_, err := c.Get(t.Context(), "i1")
		require.ErrorIs(t, err, ErrProtocol)
		require.ErrorContains(t, err, "another origin")
		require.NotContains(t, err.Error(), testKey)
		err = c.Kill(t.Context(), "i1")
		require.Error(t, err)
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sandboxes/i1" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		answer{200, nil, `{"sandboxID":"i1"}`}.to(w)
	})
	_, err := c.Get(t.Context(), "i1")
	require.NoError(t, err)
	c = serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) })
	_, err = c.Get(t.Context(), "i1")
	require.ErrorContains(t, err, "more than three")
}

func TestErrorKinds(t *testing.T) {
	for name, test := range map[string]struct {
		answer
		kind error
		says string
	}{
		"a bad key":            {answer{401, nil, `{"code":401,"message":"invalid API key format"}`}, ErrKey, "invalid API key format (401)"},
		"a blocked team":       {answer{403, nil, `{"code":403,"message":"team is blocked"}`}, ErrForbidden, "blocked"},
		"gone":                 {answer{404, nil, `{"code":404,"message":"sandbox not found"}`}, ErrNotFound, ""},
		"a conflict":           {answer{409, nil, `{}`}, ErrConflict, ""},
		"a bad request":        {answer{400, nil, `{"code":400,"message":"Max instance length exceeded"}`}, ErrRefused, "Max instance length"},
		"the quota":            {answer{429, nil, `{"code":429,"message":"you have reached the maximum number of concurrent E2B sandboxes (20)"}`}, ErrQuota, "(20)"},
		"the rate":             {answer{429, map[string]string{"Retry-After": "7"}, `{"message":"Rate limit exceeded"}`}, ErrRate, ""},
		"the rate, by word":    {answer{429, nil, `{"message":"Rate limit exceeded"}`}, ErrRate, ""},
		"no capacity":          {answer{503, nil, `{"code":503,"error_code":"sandbox_capacity_unavailable"}`}, ErrUnavailable, "sandbox_capacity_unavailable"},
		"a gateway's page":     {answer{502, nil, `<html>` + "\x1b[31m" + `</html>`}, ErrUnavailable, "(502)"},
		"a success of a kind":  {answer{202, nil, `{}`}, ErrProtocol, ""},
		"not JSON":             {answer{200, nil, `hello`}, ErrProtocol, ""},
		"another sandbox":      {answer{200, nil, `{"sandboxID":"i2"}`}, ErrProtocol, "another sandbox"},
		"a flood":              {answer{200, nil, string(bytes.Repeat([]byte(" "), maxBody+1))}, ErrProtocol, "more than"},
		"words of another age": {answer{400, nil, `{"message":"a\u001b[2J\u0000b\nc"}`}, ErrRefused, "a?[2J?b c"},
	} {
		t.Run(name, func(t *testing.T) {
			var count atomic.Int64
			_, err := serve(t, script(&count, test.answer)).Get(t.Context(), "i1")
			require.ErrorIs(t, err, test.kind)
			require.ErrorContains(t, err, test.says)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, err.Error(), "\x1b")
		})
	}
}
