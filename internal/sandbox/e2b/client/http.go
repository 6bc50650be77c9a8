package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// callLimit bounds one request of the API. A create waits until the VM is up.
	callLimit = 90 * time.Second
	// maxBody bounds an answer that is not a stream: a page of a hundred sandboxes with their tags is far below.
	maxBody = 4 << 20
	// tries is how often a request that may be repeated is sent.
	tries = 4
	// lingering is how long a request that makes something is still waited for once nobody wants it: what it made has a
	// name by then, and can be ended.
	lingering = 15 * time.Second
	// maxWait bounds a wait that a server asks for.
	maxWait = 30 * time.Second
)

// newHTTP makes connections that notice when they are dead, and asks for no compression: on a fast line the daemon
// packs seven times slower than it sends.
func newHTTP(proxy func(*url.URL) (*url.URL, error)) *http.Client {
	t := &http.Transport{
		DisableCompression:  true,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     60 * time.Second,
		TLSHandshakeTimeout: 15 * time.Second,
		DialContext:         (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
	if proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }
	}
	return &http.Client{Transport: t, CheckRedirect: sameOrigin}
}

// sameOrigin follows no redirect to another origin: net/http would take the key along.
func sameOrigin(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	if next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
		return fmt.Errorf("%w: a redirect to another origin, %s", ErrProtocol, said(next.URL.Host))
	}
	if len(via) > 3 {
		return fmt.Errorf("%w: more than three redirects", ErrProtocol)
	}
	return nil
}

// call is one request of the API.
type call struct {
	op     string
	method string
	path   string // escaped
	query  url.Values
	body   any  // sent as JSON; nil: none
	again  bool // it may be repeated though it may have taken effect
	linger bool // one that is under way when the context ends is waited for
	want   int
}

// do makes the call, decodes the answer into out when that is not nil, and returns the answer's header. What may be
// repeated is: after a rate limit as long as the server asks for, after a failure to connect, and with again after any
// failure that can pass.
func (c *Client) do(ctx context.Context, k call, out any) (http.Header, error) {
	var err error
	for try := range tries {
		var head http.Header
		head, err = c.once(ctx, k, out)
		pause, more := k.retry(err, try)
		if !more || try == tries-1 {
			return head, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-c.wait(pause):
		}
	}
	return nil, err
}

// retry says whether to try again, and after which time.
func (k call) retry(err error, try int) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) {
		return 0, false
	}
	pause := 250 * time.Millisecond << try
	switch {
	case errors.Is(e.Kind, ErrRate) && e.RetryAfter <= maxWait:
		return e.RetryAfter, true
	case neverSent(e.Err):
		return pause, true
	case k.again && (errors.Is(e.Kind, ErrUnavailable) || errors.Is(e.Kind, ErrUnknown)):
		return pause, true
	}
	return 0, false
}

// neverSent is a failure before the request was on its way: no name, no connection.
func neverSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

func (c *Client) once(ctx context.Context, k call, out any) (http.Header, error) {
	if k.linger && ctx.Err() == nil {
		var stop func()
		ctx, stop = outlast(ctx, lingering)
		defer stop()
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	var body io.Reader
	if k.body != nil {
		b, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.op, err)
		}
		body = strings.NewReader(string(b))
	}
	target := c.api.String() + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, err)
	}
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	req.Header.Set("X-API-Key", string(*c.key))
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unanswered(k.op, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, unanswered(k.op, err)
	case len(data) > maxBody:
		return nil, &Error{Op: k.op, Kind: ErrProtocol, Status: resp.StatusCode, Message: fmt.Sprintf("more than %d bytes", maxBody)}
	case resp.StatusCode != k.want:
		return nil, apiError(k.op, resp, data)
	}
	if out == nil {
		return resp.Header, nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, &Error{Op: k.op, Kind: ErrProtocol, Status: resp.StatusCode, Err: err}
	}
	return resp.Header, nil
}

// outlast is ctx, which ends so much later. stop must be called.
func outlast(ctx context.Context, by time.Duration) (later context.Context, stop func()) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	unhook := context.AfterFunc(ctx, func() {
		over := time.AfterFunc(by, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(later, func() { over.Stop() })
	})
	return later, func() { unhook(); cancel(nil) }
}

// unanswered is a request without an answer. Unless it was never sent, it may have taken effect. The URL is left out of
// the text; it has no secret, but what was tried is said already.
func unanswered(op string, err error) *Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.Is(err, ErrProtocol):
		return &Error{Op: op, Kind: ErrProtocol, Err: err}
	case neverSent(err):
		return &Error{Op: op, Kind: ErrUnavailable, Err: err}
	}
	return &Error{Op: op, Kind: ErrUnknown, Err: err}
}

// apiError reads an answer that is none of the expected. Every part of it may be missing or of another server.
func apiError(op string, resp *http.Response, data []byte) *Error {
	var body struct {
		Message   string `json:"message"`
		ErrorCode string `json:"error_code"`
	}
	if json.Unmarshal(data, &body) != nil {
		body.Message = ""
	}
	e := &Error{Op: op, Status: resp.StatusCode, Code: said(body.ErrorCode), Message: said(body.Message)}
	e.RetryAfter, e.Kind = kindOf(resp, e.Message)
	return e
}

// kindOf is what a status means. There are two kinds of 429: only the one that names a time passes by waiting.
func kindOf(resp *http.Response, message string) (time.Duration, error) {
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized:
		return 0, ErrKey
	case s == http.StatusForbidden:
		return 0, ErrForbidden
	case s == http.StatusNotFound:
		return 0, ErrNotFound
	case s == http.StatusConflict:
		return 0, ErrConflict
	case s == http.StatusTooManyRequests:
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			return time.Duration(max(seconds, 1)) * time.Second, ErrRate
		}
		if strings.Contains(strings.ToLower(message), "rate limit") {
			return time.Second, ErrRate
		}
		return 0, ErrQuota
	case s >= 500:
		return 0, ErrUnavailable
	case s >= 400:
		return 0, ErrRefused
	}
	return 0, ErrProtocol
}
