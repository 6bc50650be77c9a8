package model

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
)

// Bounds of what a provider may send and ask for.
const (
	maxRequest   = 32 << 20    // bytes; what the largest of the providers takes
	maxResponse  = 32 << 20    // bytes, unpacked
	longestWait  = time.Minute // that Retry-After may ask for
	answerWithin = 10 * time.Minute
)

// Retries is how often a provider's SDK asks again after an answer that says to: 408, 409, 429, 5xx, or no answer at all.
const Retries = 3

// Wire is the HTTP client of a provider: it alone knows the key, which it gives to the one origin it is for, follows no
// redirect and keeps the bytes of each exchange. Safe for concurrent use.
type Wire struct {
	// Authorize adds the credential to a request whose origin was checked. Nil: there is none.
	Authorize func(*http.Request) error
	// Base carries requests; nil: a transport of joy's own, through the host's proxy.
	Base http.RoundTripper
}

// Client is for one provider's SDK.
func (w Wire) Client() *http.Client {
	if w.Base == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = answerWithin
		w.Base = t
	}
	return &http.Client{
		Transport:     &recorder{w},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

type recordingKey struct{}

// recording is the exchange that a Wire keeps, and who is told before it begins. hold keeps a request here for good.
type recording struct {
	*Exchange
	sending func() error
	hold    func(why error) error
}

func (r recording) begin(body []byte) error {
	r.Request, r.Response, r.Status, r.media = body, nil, 0, ""
	r.Attempts++
	if len(body) > maxRequest {
		return r.hold(fault.New(fault.Agent, "the conversation has become longer than %d MiB, which no model takes", maxRequest>>20).
			WithHint("say in SKILL.md to keep large things in files"))
	}
	return r.sending()
}

type recorder struct{ wire Wire }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(recordingKey{}).(recording)
	if !ok {
		return nil, errors.New("a request to a model provider outside a conversation")
	}
	body, err := readRequest(req)
	if err != nil {
		return nil, err
	}
	if err := x.begin(body); err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	if r.wire.Authorize != nil {
		if err := r.wire.Authorize(req); err != nil {
			return nil, x.hold(err)
		}
	}
	res, err := r.wire.Base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.Status = res.StatusCode
	x.media, _, _ = mime.ParseMediaType(res.Header.Get("Content-Type"))
	bounded(res.Header)
	res.Body = &kept{ReadCloser: res.Body, x: x.Exchange}
	return res, nil
}

func readRequest(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	defer req.Body.Close()
	var b bytes.Buffer
	b.Grow(int(max(0, req.ContentLength)) + bytes.MinRead) // the SDK's own body: its length is known
	_, err := b.ReadFrom(req.Body)
	return b.Bytes(), err
}

// KeptResponse is what is kept of the answer as it would come over the wire, for the SDK's own decoder.
func (x Exchange) KeptResponse() *http.Response {
	return &http.Response{StatusCode: x.Status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(x.Kept))}
}

// bounded lets a provider not hold a run for as long as it likes: a longer wait than longestWait is no wait but a refusal.
func bounded(h http.Header) {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"Retry-After-Ms", time.Millisecond}, {"Retry-After", time.Second}} {
		v := h.Get(unit.name)
		n, err := strconv.ParseFloat(v, 64)
		at, derr := http.ParseTime(v)
		if (err == nil && (math.IsNaN(n) || n*float64(unit.of) > float64(longestWait))) || (derr == nil && time.Until(at) > longestWait) {
			h.Set("X-Should-Retry", "false") // which the SDKs obey
		}
	}
}

var errTooLong = fmt.Errorf("the model provider's answer is longer than %d MiB", maxResponse>>20)

// kept is a body whose bytes are kept as they are read.
type kept struct {
	io.ReadCloser
	x *Exchange
}

func (k *kept) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	if len(k.x.Response)+n > maxResponse {
		return 0, errTooLong
	}
	k.x.Response = append(k.x.Response, p[:n]...)
	return n, err
}
