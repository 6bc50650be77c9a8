package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
)

// Expect holds the request of a turn, scrubbed, to the one on record, and makes its answer the next that Transport gives for it.
// Its error says where the two part.
func (r *Record) Expect(step string, turn int, request []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var last *exchange
	for _, x := range r.exchanges {
		if x.step != step {
			continue
		}
		if last = x; x.turn != int64(turn) {
			continue
		}
		if x.request != digest.Bytes(request) {
			return r.differs(fmt.Sprintf("turn %d of step %s asks something else", turn, step), x.request, request)
		}
		x.used = true
		r.pending = append(r.pending, x)
		return nil
	}
	if last == nil {
		return r.other("step %s asks a model, which it did not do in the run on record", step)
	}
	return r.other("step %s asks a model for turn %d, and the run on record had %d turns", step, turn, last.turn)
}

// other is the error of a question that is not on record.
func (r *Record) other(format string, args ...any) error {
	r.parted = true
	return fault.New(fault.Agent, format, args...)
}

// Parted reports whether something was asked that is not on record.
func (r *Record) Parted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parted
}

// Transport answers HTTP requests from the record. scrub makes of a request what is kept of it.
func (r *Record) Transport(scrub func([]byte) []byte) http.RoundTripper {
	return transport(func(req *http.Request) (*http.Response, error) {
		request, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		response, status, err := r.reply(digest.Bytes(scrub(request)))
		if err != nil {
			return nil, err
		}
		h := http.Header{"Content-Type": {"text/event-stream"}, "X-Should-Retry": {"false"}}
		return &http.Response{
			StatusCode: status, Header: h, Body: io.NopCloser(bytes.NewReader(response)), Request: req,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(response)),
		}, nil
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) { return t(req) }

func (r *Record) reply(request string) ([]byte, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, x := range r.pending {
		if x.request != request {
			continue
		}
		r.pending = append(r.pending[:i], r.pending[i+1:]...)
		if x.response == "" || x.status == 0 {
			return nil, 0, fmt.Errorf("no answer to turn %d of step %s is on record", x.turn, x.step)
		}
		body, err := r.read(x.response)
		return body, x.status, err
	}
	return nil, 0, fmt.Errorf("a request that is not on record")
}

// Call gives the recorded answer to a call of an action with these arguments, scrubbed. Calls of equal arguments are answered in
// the order of the record.
func (r *Record) Call(_ context.Context, step, action string, args json.RawMessage) (connection.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := digest.Bytes(args)
	var other *call
	for _, c := range r.calls {
		if c.used || c.step != step || c.action != action {
			continue
		}
		if c.arguments != name {
			if other == nil {
				other = c
			}
			continue
		}
		c.used = true
		return r.result(c)
	}
	if other == nil {
		return connection.Result{}, r.other("step %s calls %s, and the run on record has no such call left", step, action)
	}
	return connection.Result{}, r.differs(fmt.Sprintf("step %s calls %s with other arguments", step, action), other.arguments, args)
}

func (r *Record) result(c *call) (connection.Result, error) {
	switch {
	case c.problem != "":
		return connection.Result{}, fault.New(fault.Connection, "on record: %s", c.problem)
	case c.result == "":
		return connection.Result{}, fault.Wrap(fault.Connection, connection.ErrUnknown, "no answer of %s is on record", c.action)
	}
	raw, err := r.read(c.result)
	var said struct {
		IsError bool `json:"isError"`
	}
	_ = json.Unmarshal(raw, &said) // it was read before it was recorded
	return connection.Result{Raw: raw, IsError: said.IsError}, err
}

// Unasked says what is on record and was not asked this time, or "".
func (r *Record) Unasked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.exchanges {
		if !x.used {
			return fmt.Sprintf("turn %d of step %s was not asked for", x.turn, x.step)
		}
	}
	for _, c := range r.calls {
		if !c.used {
			return fmt.Sprintf("step %s did not call %s", c.step, c.action)
		}
	}
	return ""
}

// differs says at which byte two bodies part, with what is there in both.
func (r *Record) differs(what, recorded string, now []byte) error {
	then, err := r.read(recorded)
	if err != nil {
		return err
	}
	at := Part(then, now)
	return r.other("%s than on record, from byte %d on: %s, on record %s", what, at, around(now, at), around(then, at))
}

// Part is the first byte at which two bodies differ.
func Part(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// around quotes what is at a place of a body, from a little before it.
func around(b []byte, at int) string {
	if at >= len(b) {
		return "nothing more"
	}
	from := max(0, at-16)
	for from > 0 && !utf8.RuneStart(b[from]) {
		from--
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(string(b[from:min(len(b), at+48)]), "\uFFFD"))
}
