package e2btest

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody caps a control plane request, in bytes.
const maxBody = 1 << 20

// apiError is an error of the control plane.
type apiError struct {
	Code      int    `json:"code"`
	Message   string `json:"message"`
	ErrorCode string `json:"error_code,omitempty"`
}

func (e *apiError) Error() string { return e.Message }

func refuse(status int, format string, args ...any) error {
	return &apiError{Code: status, Message: fmt.Sprintf(format, args...)}
}

// handler is the whole server: the data plane is what is for a sandbox, by its headers or by its path.
func (s *Server) handler() http.Handler {
	control := http.NewServeMux()
	for pattern, do := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /sandboxes":                 func(w http.ResponseWriter, r *http.Request) error { return s.create(w, r, v1) },
		"POST /v2/sandboxes":              func(w http.ResponseWriter, r *http.Request) error { return s.create(w, r, v2) },
		"GET /sandboxes":                  s.listV1,
		"GET /v2/sandboxes":               s.list,
		"GET /sandboxes/{id}":             s.get,
		"DELETE /sandboxes/{id}":          s.kill,
		"POST /sandboxes/{id}/timeout":    s.setTimeout,
		"POST /sandboxes/{id}/refreshes":  s.refresh,
		"POST /sandboxes/{id}/connect":    func(w http.ResponseWriter, r *http.Request) error { return s.connect(w, r, v1) },
		"POST /v2/sandboxes/{id}/connect": func(w http.ResponseWriter, r *http.Request) error { return s.connect(w, r, v2) },
		"POST /sandboxes/{id}/resume":     s.resume,
		"POST /sandboxes/{id}/pause":      s.notOffered,
		"POST /sandboxes/{id}/fork":       s.notOffered,
		"POST /sandboxes/{id}/snapshots":  s.notOffered,
		"PUT /sandboxes/{id}/network":     s.notOffered,
		"GET /sandboxes/{id}/logs":        s.notOffered,
		"GET /v2/sandboxes/{id}/logs":     s.notOffered,
		"GET /sandboxes/{id}/metrics":     s.notOffered,
		"GET /templates/{id}":             s.getTemplate,
		"GET /templates/{id}/{more}":      s.getTemplate, // aliases/NAME and ID/tags: a pattern each would clash
	} {
		control.HandleFunc(pattern, s.guarded(do))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case forSandbox(r):
			s.proxy(w, r)
		case r.URL.Path == "/health":
			_, _ = io.WriteString(w, "Health check successful")
		default:
			control.ServeHTTP(w, r)
		}
	})
}

// guarded lets in who has the key and is within the rate, and answers an error as E2B's API does.
func (s *Server) guarded(do func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(s.opts.Skew).UTC().Format(http.TimeFormat))
		err := func() error {
			key := r.Header.Get("X-API-Key")
			if key == "" {
				return refuse(http.StatusUnauthorized, "Invalid API key format: no credentials found")
			}
			if subtle.ConstantTimeCompare([]byte(key), []byte(s.Key)) != 1 {
				return refuse(http.StatusUnauthorized, "Invalid API key")
			}
			if wait := s.pace.take(time.Now()); wait > 0 {
				limitHeaders(w.Header(), s.pace.rate, wait)
				return refuse(http.StatusTooManyRequests, "Rate limit exceeded")
			}
			return do(w, r)
		}()
		if err == nil {
			return
		}
		var e *apiError
		if !errors.As(err, &e) {
			e = &apiError{Code: http.StatusInternalServerError, Message: err.Error(), ErrorCode: "internal_server_error"}
		}
		writeJSON(w, e.Code, e)
	}
}

// limitHeaders are those of an answer to somebody who asks too often: how long to wait, in whole seconds.
func limitHeaders(h http.Header, rate int, wait time.Duration) {
	seconds := strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second)))
	h.Set("Retry-After", seconds)
	h.Set("RateLimit-Limit", strconv.Itoa(rate))
	h.Set("RateLimit-Remaining", "0")
	h.Set("RateLimit-Reset", seconds)
}

// pace counts requests in whole seconds.
type pace struct {
	rate int

	mu    sync.Mutex
	since time.Time
	taken int
}

// take gives how long a request has to wait; 0 when it may pass.
func (p *pace) take(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.since) >= time.Second {
		p.since, p.taken = now, 0
	}
	if p.taken++; p.rate == 0 || p.taken <= p.rate {
		return 0
	}
	return p.since.Add(time.Second).Sub(now)
}

// notOffered refuses what joy must never ask for, or never needs.
func (s *Server) notOffered(_ http.ResponseWriter, r *http.Request) error {
	if s.find(r.PathValue("id")) == nil {
		return notFound(r)
	}
	return refuse(http.StatusNotImplemented, "%s %s is not offered by this server", r.Method, r.URL.Path)
}

func notFound(r *http.Request) error {
	return refuse(http.StatusNotFound, "Sandbox %s not found", bareID(r.PathValue("id")))
}

// readBody decodes a JSON body; optional ones may be missing.
func readBody(r *http.Request, into any, optional bool) error {
	b, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return refuse(http.StatusBadRequest, "Error reading the request: %v", err)
	}
	if len(b) == 0 && optional {
		return nil
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return refuse(http.StatusBadRequest, "Error when validating request: header Content-Type has unexpected value %q", kind)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return refuse(http.StatusBadRequest, "Error when parsing request: %v", err)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"code":500,"message":"unprintable"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// bareID is an id without the client id that follows a hyphen in old ones.
func bareID(id string) string {
	bare, _, _ := strings.Cut(id, "-")
	return bare
}

// newID is formed like E2B's: i and nineteen lowercase letters and digits.
func newID() string { return "i" + strings.ToLower(rand.Text())[:19] }

func randomHex(digits int) string {
	b := make([]byte, digits/2)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
