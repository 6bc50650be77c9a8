// Package modeltest is a model provider for tests: a real HTTP server that speaks Anthropic's or OpenAI's streaming API and
// says what a script tells it to.
//
// The one rule: it is as strict as the real one. A request that the API would refuse is answered 400 and fails the test.
package modeltest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Key is the credential that the server takes; any other is answered 401.
const Key = "sk-test-0123456789abcdefghijklmnop"

// Reply is one scripted answer. The zero Reply is an empty text.
type Reply struct {
	Think string // before the rest, signed, where the wire has that
	Text  string
	Calls []Call
	Stop  string // the wire's own word; "": what fits

	Status  int         // of an error in place of an answer
	Header  http.Header // of that
	Body    string      // of that; "": an error as the API words it
	Cut     bool        // the connection breaks in the middle of the answer
	Unended bool        // the answer ends without its last event
	Hang    bool        // nothing more comes after the first event, until the client goes
	Piece   int         // bytes of a text, or of arguments, in each event; 0: half of them
	In, Out int         // tokens; 0: 100 and 10
}

// Call is a tool that the scripted model asks for.
type Call struct{ Name, Input string }

// Request is one request as the server has got it.
type Request struct {
	Header http.Header
	Body   json.RawMessage
	At     time.Time
}

// Server is a running provider.
type Server struct {
	URL  string
	t    testing.TB
	wire wire
	say  func(n int, r Request) Reply

	mu       sync.Mutex
	requests []Request
}

// wire is one provider's form.
type wire interface {
	check(t assert.TestingT, r *http.Request, body []byte) bool
	answer(w io.Writer, n int, r Reply)
	problem(status int) string
}

// Script answers the n-th request with the n-th reply, and anything beyond with the last one.
func Script(replies ...Reply) func(int, Request) Reply {
	return func(n int, _ Request) Reply { return replies[min(n, len(replies)-1)] }
}

// Anthropic starts a server of Anthropic's API. say is given the number of the request, from 0.
func Anthropic(t testing.TB, say func(n int, r Request) Reply) *Server {
	return start(t, messages{}, say)
}

// OpenAI starts a server of OpenAI's API; its URL ends in /v1.
func OpenAI(t testing.TB, say func(n int, r Request) Reply) *Server {
	s := start(t, completions{}, say)
	s.URL += "/v1"
	return s
}

func start(t testing.TB, w wire, say func(int, Request) Reply) *Server {
	s := &Server{t: t, wire: w, say: say}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	return s
}

// Requests are all that came so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/v1/models") {
		s.list(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if !assert.NoError(s.t, err) {
		return
	}
	if !s.wire.check(s.t, r, body) {
		http.Error(w, s.wire.problem(http.StatusBadRequest), http.StatusBadRequest)
		return
	}
	if !authorized(r) {
		http.Error(w, s.wire.problem(http.StatusUnauthorized), http.StatusUnauthorized)
		return
	}
	req := Request{Header: r.Header.Clone(), Body: body, At: time.Now()}
	s.mu.Lock()
	n := len(s.requests)
	s.requests = append(s.requests, req)
	s.mu.Unlock()
	s.write(w, r, n, s.say(n, req))
}

func authorized(r *http.Request) bool {
	return r.Header.Get("Authorization") == "Bearer "+Key || r.Header.Get("X-Api-Key") == Key
}

// list names the one model that there is, in the form that both APIs have in common. It is no request of Requests.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if !authorized(r) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, s.wire.problem(http.StatusUnauthorized))
		return
	}
	_, _ = io.WriteString(w, `{"data":[{"id":"test-1"}],"has_more":false}`)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, n int, reply Reply) {
	if reply.Status != 0 {
		for k, v := range reply.Header {
			w.Header()[k] = v
		}
		text := reply.Body
		if text == "" {
			text = s.wire.problem(reply.Status)
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, text)
		return
	}
	if reply.In == 0 {
		reply.In = 100
	}
	if reply.Out == 0 {
		reply.Out = 10
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.wire.answer(w, n, reply)
	_ = http.NewResponseController(w).Flush()
	switch {
	case reply.Hang:
		<-r.Context().Done()
	case reply.Cut:
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to break a connection
	}
}
