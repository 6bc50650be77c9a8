package broker

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger"
)

// maxDenials is how many refused requests of one step go on record; a step that goes on is refused without a line.
const maxDenials = 1_000

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
		refuse(w, http.StatusNotFound, "not_found", "there is no "+r.Method+" "+r.URL.Path+" here")
	})
	return b.authorize(mux)
}

type grantKey struct{}

// authorize judges every request by its token before anything else looks at it. All refusals look alike to the VM;
// the reason is in the ledger.
func (b *Broker) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step, _ := r.Context().Value(doorKey{}).(string)
		token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		g, why := b.find(step, token)
		if why == "" && r.Header.Get("Origin") != "" {
			why = "a request made by a web page"
		}
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

func (b *Broker) deny(step string, r *http.Request, why string) {
	b.mu.Lock()
	b.denied[step]++
	n := b.denied[step]
	b.mu.Unlock()
	if n > maxDenials {
		return
	}
	scrubbed, _ := b.cfg.Secrets.Redact([]byte(r.URL.Path))
	path, _ := ledger.Text(scrubbed)
	// The refusal happens with or without its entry; when the ledger fails, so does the run.
	_, _ = b.cfg.Ledger.Append(ledger.EgressDenied, step, ledger.Data{"to": "joy", "method": r.Method, "path": path, "reason": why})
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
