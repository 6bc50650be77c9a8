package connection

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/joystream-ai/joy/internal/secret"
)

// reach is the transport to a server by URL. Nothing is retried below Call, which knows what may be repeated.
func reach(cfg Config, wire *bearer) mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint: cfg.URL, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: MaxMessage,
		HTTPClient: &http.Client{
			Transport: wire,
			// A redirect would carry the request, and what it is trusted with, elsewhere.
			CheckRedirect: func(r *http.Request, _ []*http.Request) error {
				return fmt.Errorf("it redirects to %s, which is not followed", r.URL.Host)
			},
		},
	}
}

// bearer adds the credential to requests to its origin, and bounds the answers.
type bearer struct {
	origin  *url.URL
	value   secret.Value
	base    http.RoundTripper
	refused atomic.Int32 // the status, when the server would not have the credential
}

func newBearer(cfg Config) *bearer {
	origin, _ := url.Parse(cfg.URL)
	return &bearer{origin: origin, value: cfg.Bearer, base: http.DefaultTransport}
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.origin == nil || r.URL.Scheme != b.origin.Scheme || r.URL.Host != b.origin.Host {
		return nil, fmt.Errorf("a request to %s, which is not the connection's origin", r.URL.Host)
	}
	if v := b.value.Bytes(); len(v) > 0 {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+string(v))
	}
	res, err := b.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden {
		b.refused.Store(int32(res.StatusCode))
	}
	res.Body = &bounded{ReadCloser: res.Body, left: MaxMessage + 1<<20}
	return res, nil
}

// bounded ends a body that is longer than any message.
type bounded struct {
	io.ReadCloser
	left int
}

var errTooLarge = errors.New("its answer is larger than 16 MiB")

func (b *bounded) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
