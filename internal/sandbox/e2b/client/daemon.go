package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// daemonPort is where the daemon of a sandbox listens.
const daemonPort = "49983"

const (
	// answerLimit bounds the wait for the head of an answer, and a whole call that is no stream.
	answerLimit = 30 * time.Second
	// pingEvery asks the daemon for a sign of life on a stream that has nothing to say. Never 0: the daemon dies of it.
	pingEvery = 10 * time.Second
	// silence is how long a stream may say nothing at all.
	silence = 35 * time.Second
)

// Daemon is the process in one sandbox that starts processes and carries files. It is safe for concurrent use.
type Daemon struct {
	client  *Client
	base    *url.URL
	id      string
	token   *Secret
	octet   bool // it takes a file as the body of a request
	user    string
	silence time.Duration
}

// hosted are the domains that route by header; others have a name for each sandbox and port.
var hosted = map[string]bool{"e2b.app": true, "e2b.dev": true, "e2b.pro": true, "e2b-staging.dev": true}

// Daemon is the daemon of a sandbox that Create or Get told of; user is who its processes and files belong to.
func (c *Client) Daemon(s Created, user string) (*Daemon, error) {
	d := &Daemon{client: c, base: c.sandboxURL, id: s.ID, token: &s.AccessToken, octet: atLeast(s.Daemon, 0, 5, 7), user: user, silence: silence}
	if !ValidID(s.ID) {
		return nil, fmt.Errorf("%q is not an id of a sandbox", s.ID)
	}
	if !atLeast(s.Daemon, 0, 3, 0) {
		return nil, &Error{Op: "looking at the sandbox", Kind: ErrProtocol, Message: "its template was built with the daemon " + said(s.Daemon) + "; build it again (0.3.0 or later is needed)"}
	}
	if s.AccessToken == "" || !visible(string(s.AccessToken)) {
		return nil, &Error{Op: "looking at the sandbox", Kind: ErrProtocol, Message: "it has no token of its own, so anybody who knows its id could use it"}
	}
	if d.base != nil {
		return d, nil
	}
	domain := s.Domain
	if domain == "" {
		domain = c.domain
	}
	host := daemonPort + "-" + s.ID + "." + domain
	if hosted[domain] {
		host = "sandbox." + domain
	}
	u, err := url.Parse("https://" + host)
	if err != nil || u.Host != host || u.Path != "" {
		return nil, &Error{Op: "looking at the sandbox", Kind: ErrProtocol, Message: "its domain is " + said(domain)}
	}
	d.base = u
	return d, nil
}

// atLeast compares a version of the form 1.2.3 or v1.2.3-more.
func atLeast(version string, want ...int) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	for i, w := range want {
		if i >= len(parts) {
			return false
		}
		n, err := strconv.Atoi(parts[i])
		switch {
		case err != nil || n < w:
			return false
		case n > w:
			return true
		}
	}
	return true
}

// request makes a request to the daemon.
func (d *Daemon) request(ctx context.Context, method, path string, query url.Values, body io.Reader) (*http.Request, error) {
	target := d.base.String() + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, target, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", d.client.agent)
	req.Header.Set("E2b-Sandbox-Id", d.id)
	req.Header.Set("E2b-Sandbox-Port", daemonPort)
	req.Header.Set("X-Access-Token", string(*d.token))
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(d.user+":")))
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

// send makes a request whose answer's head comes within answerLimit. stop ends the request and must be called.
func (d *Daemon) send(ctx context.Context, op, method, path string, query url.Values, head map[string]string, body io.Reader) (resp *http.Response, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop = func() { cancel(nil) }
	late := time.AfterFunc(answerLimit, func() { cancel(fmt.Errorf("no answer within %s", answerLimit)) })
	req, err := d.request(ctx, method, path, query, body)
	if err != nil {
		late.Stop()
		stop()
		return nil, nil, fmt.Errorf("%s: %w", op, err)
	}
	for k, v := range head {
		req.Header.Set(k, v)
	}
	resp, err = d.client.http.Do(req)
	if err == nil && !late.Stop() {
		resp.Body.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		late.Stop()
		if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
			err = cause
		}
		stop()
		return nil, nil, unanswered(op, err)
	}
	return resp, stop, nil
}

// unary calls one procedure of the daemon (https://connectrpc.com/docs/protocol, the JSON form), whose answer has nothing
// to say but that it was done. It is sent once.
func (d *Daemon) unary(ctx context.Context, op, procedure string, in any) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	head := map[string]string{"Content-Type": "application/json", "Connect-Protocol-Version": "1"}
	resp, stop, err := d.send(ctx, op, http.MethodPost, procedure, nil, head, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	defer stop()
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return unanswered(op, err)
	case len(data) > maxBody:
		return &Error{Op: op, Kind: ErrProtocol, Message: fmt.Sprintf("more than %d bytes", maxBody)}
	case resp.StatusCode != http.StatusOK:
		return daemonError(op, resp, data)
	}
	return nil
}

// connectError is an error as the daemon says it, in a unary answer and at the end of a stream.
type connectError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// connectKinds are the codes that mean more than that it was refused.
var connectKinds = map[string]error{
	"not_found": ErrNotFound, "unauthenticated": ErrKey, "permission_denied": ErrForbidden, "resource_exhausted": ErrRate,
	"unavailable": ErrUnavailable, "internal": ErrUnavailable, "unknown": ErrUnavailable, "unimplemented": ErrProtocol,
	"already_exists": ErrConflict, "failed_precondition": ErrConflict, "deadline_exceeded": ErrUnknown, "canceled": ErrUnknown,
}

func (e connectError) error(op string, status int) *Error {
	kind := connectKinds[e.Code]
	if kind == nil {
		kind = ErrRefused
	}
	return &Error{Op: op, Kind: kind, Status: status, Code: said(e.Code), Message: said(e.Message)}
}

// daemonError reads an answer that may be the daemon's, a proxy's in front of it, or a stranger's. The proxies say in
// JSON which sandbox they do not find; anything else of a gateway says nothing about the sandbox.
func daemonError(op string, resp *http.Response, data []byte) *Error {
	var body struct {
		Code      json.RawMessage `json:"code"` // a word from the daemon, a number from the proxy
		Message   string          `json:"message"`
		SandboxID string          `json:"sandboxId"`
	}
	_ = json.Unmarshal(data, &body) // of what is not JSON nothing is known but the status
	var word string
	if json.Unmarshal(body.Code, &word) == nil && word != "" {
		return connectError{word, body.Message}.error(op, resp.StatusCode)
	}
	e := &Error{Op: op, Status: resp.StatusCode, Message: said(body.Message)}
	e.RetryAfter, e.Kind = kindOf(resp, e.Message)
	if body.SandboxID != "" && strings.Contains(e.Message, "not found") {
		e.Kind = ErrLost
	}
	if errors.Is(e.Kind, ErrQuota) {
		e.Kind = ErrRate
	}
	return e
}
