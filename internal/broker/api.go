package broker

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/joystream-ai/joy/internal/egress"
	"github.com/joystream-ai/joy/internal/ledger"
)

// maxShown bounds what the record says of a refused request's method and target, in bytes each: both are the
// VM's own words.
const maxShown = 256

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
		g := grantOf(r)
		answer(w, http.StatusOK, Scope{
			Workspace: b.cfg.Workspace, Agent: b.cfg.Agent, Run: b.cfg.Run, Step: g.step,
			Issued: stamp(g.issued), Expires: stamp(g.expires),
		})
	})
	mux.HandleFunc("POST /mcp", b.gateway)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "method", "there is no stream of events and no session here: POST only")
	})
	mux.HandleFunc("GET /v1/tools", b.getTools)
	mux.HandleFunc("POST /v1/call", b.postCall)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "not_found", "there is no "+b.shown(r.Method)+" "+b.shown(target(r))+" here")
	})
	return b.authorize(mux)
}

type grantKey struct{}

// grantOf is what authorize found.
func grantOf(r *http.Request) *grant {
	g, _ := r.Context().Value(grantKey{}).(*grant)
	return g
}

// authorize judges every request by its token before anything else looks at it. All refusals look alike to the VM;
// the reason is in the ledger. A request to a proxy carries its token in a header of its own.
func (b *Broker) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		step, _ := r.Context().Value(doorKey{}).(string)
		header, challenge, status := "Authorization", "WWW-Authenticate", http.StatusUnauthorized
		proxied := r.Method == http.MethodConnect || r.URL.IsAbs()
		if proxied {
			header, challenge, status = "Proxy-Authorization", "Proxy-Authenticate", http.StatusProxyAuthRequired
		}
		g, why := b.judge(step, r.Header, header)
		if why != "" {
			b.record(step, ledger.Data{"to": "joy", "method": b.shown(r.Method), "path": b.shown(target(r)), "reason": why})
			w.Header().Set(challenge, `Bearer realm="joy"`)
			if proxied {
				w.Header().Add(challenge, `Basic realm="joy"`)
			}
			refuse(w, status, "unauthorized", "this needs the run token of this step: "+header+": Bearer $JOY_RUN_TOKEN")
			return
		}
		r.Header.Del(header) // nothing behind this line sees the token
		r = r.WithContext(withGrant(r.Context(), g))
		switch {
		case r.Method == http.MethodConnect:
			b.connect(w, r)
		case proxied:
			b.denyEgress(step, r.URL.Host, egress.PlainHTTP)
			refuse(w, http.StatusForbidden, "denied", "denied by plan, do not retry: "+egress.PlainHTTP.Error())
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// judge finds the grant of a request made at step's door, or says why there is none. A web page that was made to call
// the door sends an Origin (https://fetch.spec.whatwg.org/#origin-header); no client of joy does.
func (b *Broker) judge(step string, h http.Header, header string) (*grant, string) {
	if _, page := h["Origin"]; page {
		return nil, "a request made by a web page"
	}
	credentials := h.Values(header)
	if len(credentials) == 0 {
		return nil, "no token"
	}
	scheme, token, _ := strings.Cut(credentials[0], " ")
	if header == "Proxy-Authorization" && strings.EqualFold(scheme, "Basic") {
		// What programs make of http://joy:TOKEN@127.0.0.1:569 (RFC 7617).
		pair, err := base64.StdEncoding.DecodeString(token)
		_, password, ok := strings.Cut(string(pair), ":")
		if err != nil || !ok {
			return nil, "no password in the proxy's credentials"
		}
		scheme, token = "Bearer", password
	}
	if len(credentials) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return nil, "not one bearer token"
	}
	return b.find(step, token)
}

// record puts a refusal on record and counts it. Past the limit the door closes.
func (b *Broker) record(step string, d ledger.Data) {
	n := b.account(step).denial()
	if n > maxDenials {
		return
	}
	if n == maxDenials {
		d["note"] = "the last refusal that is recorded: the step's door closes"
	}
	// The refusal happens with or without its entry; when the ledger fails, so does the run.
	_, _ = b.cfg.Ledger.Append(ledger.EgressDenied, step, d)
	if n == maxDenials {
		b.shut(step, errDenials)
	}
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
