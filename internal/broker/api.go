package broker

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger"
)

const (
	// maxDenials is how many refused requests of one step go on record; the last of them says that it is the last.
	maxDenials = 1_000

	// maxShown bounds what the record says of a refused request's method and target, in bytes each: both are the
	// VM's own words.
	maxShown = 256
)

// Scope answers GET /v1/run: what the token that was presented is good for.
type Scope struct {
	Workspace string `json:"workspace"`
	Agent     string `json:"agent"`
	Run       string `json:"run"`
	Step      string `json:"step"`
	Issued    string `json:"issued"`
	Expires   string `json:"expires"`
}

func (b *Broker) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/run", func(w http.ResponseWriter, r *http.Request) {
		g, _ := r.Context().Value(grantKey{}).(*grant)
		answer(w, http.StatusOK, Scope{
			Workspace: b.cfg.Workspace, Agent: b.cfg.Agent, Run: b.cfg.Run, Step: g.step,
			Issued: stamp(g.issued), Expires: stamp(g.expires),
		})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is no "+b.shown(r.Method)+" "+b.shown(target(r))+" here")
	})
	return b.authorize(mux)
}

type grantKey struct{}

// authorize judges every request by its token before anything else looks at it. All refusals look alike to the VM;
// the reason is in the ledger.
func (b *Broker) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step, _ := r.Context().Value(doorKey{}).(string)
		g, why := b.judge(step, r.Header)
		if why != "" {
			b.deny(step, r, why)
			w.Header().Set("WWW-Authenticate", `Bearer realm="joy"`)
			refuse(w, http.StatusUnauthorized, "unauthorized", "this needs the run token of this step: Authorization: Bearer $JOY_RUN_TOKEN")
			return
		}
		r.Header.Del("Authorization") // nothing behind this line sees the token
		next.ServeHTTP(w, r.WithContext(withGrant(r.Context(), g)))
	})
}

// judge finds the grant of a request made at step's door, or says why there is none. A web page that was made to call
// the door sends an Origin (https://fetch.spec.whatwg.org/#origin-header); no client of joy does.
func (b *Broker) judge(step string, h http.Header) (*grant, string) {
	if _, page := h["Origin"]; page {
		return nil, "a request made by a web page"
	}
	credentials := h.Values("Authorization")
	if len(credentials) == 0 {
		return nil, "no token"
	}
	scheme, token, _ := strings.Cut(credentials[0], " ")
	if len(credentials) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, "not one bearer token"
	}
	return b.find(step, token)
}

func (b *Broker) deny(step string, r *http.Request, why string) {
	b.mu.Lock()
	b.denied[step]++
	n := b.denied[step]
	b.mu.Unlock()
	if n > maxDenials {
		return
	}
	d := ledger.Data{"to": "joy", "method": b.shown(r.Method), "path": b.shown(target(r)), "reason": why}
	if n == maxDenials {
		d["note"] = "further refusals of this step are not recorded"
	}
	// The refusal happens with or without its entry; when the ledger fails, so does the run.
	_, _ = b.cfg.Ledger.Append(ledger.EgressDenied, step, d)
}

// target is what a request asks for: a path, or the host of a CONNECT.
func target(r *http.Request) string {
	if r.URL.Path == "" {
		return r.Host
	}
	return r.URL.Path
}

// shown makes words of the VM fit for the record: a method may hold anything that a token may, so both are scrubbed.
func (b *Broker) shown(s string) string {
	scrubbed, _ := b.cfg.Secrets.Redact([]byte(s))
	text, _ := ledger.Text(scrubbed[:min(len(scrubbed), maxShown)])
	return text
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}
