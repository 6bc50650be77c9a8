package broker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// running is the calls that the doors of all steps wait for, by step and the id of the request.
type running struct {
	mu    sync.Mutex
	calls map[runningKey]map[*context.CancelCauseFunc]bool
}

type runningKey struct{ step, id string }

// errCancelled is why a call ends whose client wants no answer any more.
var errCancelled = errors.New("cancelled by the client")

// begin makes a call known until its end.
func (r *running) begin(ctx context.Context, step, id string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := runningKey{step, id}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[runningKey]map[*context.CancelCauseFunc]bool{}
	}
	if r.calls[key] == nil {
		r.calls[key] = map[*context.CancelCauseFunc]bool{}
	}
	r.calls[key][&cancel] = true
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.calls[key], &cancel); len(r.calls[key]) == 0 {
			delete(r.calls, key)
		}
		cancel(nil)
	}
}

// cancel ends the call of a step that has this id. Two clients in one step may count alike: then nobody knows whose
// call it is, and both go on.
func (r *running) cancel(step, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls[runningKey{step, id}]
	if len(calls) != 1 {
		return
	}
	for cancel := range calls {
		(*cancel)(errCancelled)
	}
}

func cancelled(params json.RawMessage) string {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(params, &p) // no id: nothing is cancelled
	return string(p.ID)
}

// callFor makes a call that came through a step's door. It ends when the request is cancelled, and with it when the
// door is cut.
func (b *Broker) callFor(ctx context.Context, g *grant, id string, granted plan.Grant, args json.RawMessage) (json.RawMessage, error) {
	a := b.account(g.step)
	if err := b.enter(g.step); err != nil {
		return nil, err
	}
	defer a.leave()
	if id != "" {
		var end func()
		ctx, end = b.running.begin(ctx, g.step, id)
		defer end()
	}
	if string(args) == "null" {
		args = nil
	}
	res, err := b.Call(ctx, Call{Step: g.step, Grant: granted, Approve: g.terms.Approve, Arguments: args})
	return res.Raw, err
}

// Explain is an error in words for a step: what it can do about it, and the server's own words. Where a server is, how
// it is started and what it says on the side is the host's business; so is a secret that it says in passing.
func (b *Broker) Explain(err error) string {
	clean, _ := b.cfg.Secrets.Redact([]byte(explain(err)))
	return string(clean)
}

func explain(err error) string {
	var said *jsonrpc.Error
	switch kind := fault.KindOf(err); {
	case errors.Is(err, connection.ErrUnknown):
		return connection.ErrUnknown.Error() + ": look before you call again"
	case kind == fault.Policy:
		return "denied by plan, do not retry: " + err.Error()
	case kind == fault.Input || kind == fault.Consent:
		return err.Error()
	case errors.As(err, &said):
		return "the server refused the call: " + said.Message
	case kind == fault.Drift:
		return "the server's tools are not those of the plan"
	case kind == fault.Connection:
		return "the server could not be reached or did not answer"
	}
	return "joy could not make the call"
}

// What GET /v1/tools says of one tool.
type toolEntry struct {
	Action     string          `json:"action"`
	Definition json.RawMessage `json:"definition"` // pinned, without the arguments that are fixed
	Fixed      json.RawMessage `json:"fixed"`
	Left       int             `json:"calls_left"` // -1: as many as the door allows
}

// getTools serves GET /v1/tools.
func (b *Broker) getTools(w http.ResponseWriter, r *http.Request) {
	g := grantOf(r)
	entries := []toolEntry{}
	for _, granted := range g.terms.Tools {
		t, ok := b.cfg.Pins.find(granted.Action)
		if !ok {
			continue
		}
		def, err := shownTool(t, granted)
		if err != nil {
			refuse(w, http.StatusInternalServerError, "internal", granted.Action+": "+err.Error())
			return
		}
		left := b.account(g.step).left(granted.Action, granted.MaxCalls)
		entries = append(entries, toolEntry{granted.Action, def, orEmpty(granted.With), left})
	}
	answer(w, http.StatusOK, map[string]any{"tools": entries})
}

// postCall serves POST /v1/call: the gateway for a shell script.
func (b *Broker) postCall(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Action    string          `json:"action"`
		Arguments json.RawMessage `json:"arguments"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, &p)
	}
	if err != nil || p.Action == "" {
		refuse(w, http.StatusBadRequest, "input", `this takes {"action": …, "arguments": {…}}, of at most 8 MiB`)
		return
	}
	g := grantOf(r)
	granted, ok := grantFor(g, p.Action)
	if !ok {
		if err := b.denyUnknown(g.step, p.Action); err != nil {
			refuse(w, http.StatusServiceUnavailable, "unrecorded", "what cannot be recorded does not happen")
			return
		}
		refuse(w, http.StatusForbidden, "denied", "denied by plan, do not retry: the plan does not grant "+b.shown(p.Action)+" to this step")
		return
	}
	raw, err := b.callFor(r.Context(), g, "", granted, p.Arguments)
	if err != nil {
		status, code := statusOf(err)
		refuse(w, status, code, b.Explain(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(raw) //nolint:gosec // JSON, said to be that, and no page can ask: see judge
}

// statusOf is the HTTP status and the code of a call that was not made or came to nothing.
func statusOf(err error) (status int, code string) {
	if errors.Is(err, connection.ErrUnknown) {
		return http.StatusGatewayTimeout, "outcome_unknown"
	}
	switch fault.KindOf(err) {
	case fault.Policy:
		return http.StatusForbidden, "denied"
	case fault.Consent:
		return http.StatusForbidden, "approval_needed"
	case fault.Input:
		return http.StatusBadRequest, "input"
	case fault.Drift:
		return http.StatusConflict, "drift"
	case fault.Connection:
		return http.StatusBadGateway, "connection"
	}
	return http.StatusServiceUnavailable, "unrecorded"
}
