package broker

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

func call(action, args string) Call {
	return Call{Step: "tell", Grant: plan.Grant{Action: action}, Arguments: json.RawMessage(args)}
}

func with(action, fixed, args string) Call {
	c := call(action, args)
	c.Grant.With = json.RawMessage(fixed)
	return c
}

// What is denied reaches no server, and is on record with its reason.
func TestDeniedCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		call Call
		kind fault.Kind
		want string
	}{
		"not pinned":          {call("crm.drop", `{}`), fault.Policy, "the plan has no such tool"},
		"no such connection":  {call("drive.send", `{}`), fault.Policy, "the plan has no such tool"},
		"no name":             {call("crm", `{}`), fault.Policy, "the plan has no such tool"},
		"another type":        {call("crm.send", `{"to":1,"text":"x"}`), fault.Input, "inputSchema: to: got number, want string"},
		"one is missing":      {call("crm.send", `{"to":"a"}`), fault.Input, "missing property 'text'"},
		"no object":           {call("crm.look", `[]`), fault.Input, "not a JSON object"},
		"no JSON":             {call("crm.look", `{"a":`), fault.Input, "cannot be read"},
		"a key twice":         {call("crm.send", `{"to":"a","to":"b","text":"x"}`), fault.Input, `key "to" is there twice`},
		"a fixed one":         {with("crm.send", `{"to":"a"}`, `{"to":"b","text":"x"}`), fault.Policy, `fixes its argument "to"`},
		"a fixed one, alike":  {with("crm.send", `{"to":"a"}`, `{"to":"a","text":"x"}`), fault.Policy, `fixes its argument "to"`},
		"a fixed one, spelt":  {with("crm.send", `{"to":"a"}`, `{"t\u006f":"b","text":"x"}`), fault.Policy, `fixes its argument "to"`},
		"a credential":        {call("crm.send", `{"to":"a","text":"it is `+canary+`"}`), fault.Policy, ErrCredential.Error()},
		"a credential, coded": {call("crm.send", `{"to":"a","text":"Y2FuYXJ5LWI1ZDJjN2YwOWUzMQ=="}`), fault.Policy, ErrCredential.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			h, u := crm(t)
			_, err := h.Call(t.Context(), tc.call)
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, tc.kind, fault.KindOf(err))
			require.Empty(t, u.Calls())
			require.Empty(t, h.entries(t, ledger.ToolRequested))
			require.Len(t, h.denials(t), 1)
			require.Contains(t, h.denials(t)[0], tc.want)
			require.NotContains(t, h.record(t), canary)
			denied := h.Denied("tell").Calls
			require.Equal(t, tc.kind == fault.Policy, denied == 1, "%d", denied)
		})
	}
}

// The bytes of arguments and results pass as they are, and are kept as they are.
func TestVerbatim(t *testing.T) {
	h, u := crm(t)
	const result = `{"z":1,"structuredContent":{"n":9007199254740993,"f":1.0},"content":[{"type":"zzz"}],"x":1e400}`
	u.Answer = func(*http.Request, string, json.RawMessage) string { return result }
	res, err := h.Call(t.Context(), with("crm.send", `{"to":"a\u003c","n":9007199254740993}`, `{"text": "x<y", "extra":1.0}`))
	require.NoError(t, err)
	require.Equal(t, result, string(res.Raw))
	const sent = `{"text":"x<y","extra":1.0,"to":"a\u003c","n":9007199254740993}`
	require.Equal(t, []string{"send " + sent}, u.Calls())

	asked, got := h.entries(t, ledger.ToolRequested)[0], h.entries(t, ledger.ToolReturned)[0]
	require.Equal(t, sent, h.kept(t, asked.Data["arguments"]))
	require.Equal(t, result, h.kept(t, got.Data["result"]))
	require.Equal(t, "crm.send", asked.String("action"))
	require.Equal(t, h.cfg.Pins["crm"].Tools["send"].Digest, asked.String("tool"))
	of, _ := got.Int("of")
	require.Equal(t, asked.Seq, of)
	require.Equal(t, false, got.Data["failed"])
}

func TestMaxCalls(t *testing.T) {
	h, u := crm(t)
	c := call("crm.look", "")
	c.Grant.MaxCalls = 2
	for range 2 {
		_, err := h.Call(t.Context(), c)
		require.NoError(t, err)
	}
	_, err := h.Call(t.Context(), c)
	require.ErrorContains(t, err, "2 of it, which are used")
	require.Equal(t, fault.Policy, fault.KindOf(err))
	require.Len(t, u.Calls(), 2)
	c.Step = "other"
	_, err = h.Call(t.Context(), c)
	require.NoError(t, err, "another step has a count of its own")
}

// The server is asked only when what it offers is what the plan pinned.
func TestDrift(t *testing.T) {
	h, u := crm(t)
	pins := h.cfg.Pins["crm"].Tools
	pins["gone"] = pins["look"]
	pins["send"] = plan.Tool{Digest: "sha256:" + strings.Repeat("1", 64), Definition: pins["send"].Definition}
	_, err := h.Call(t.Context(), call("crm.look", ""))
	require.Equal(t, fault.Drift, fault.KindOf(err))
	require.ErrorContains(t, err, "crm.gone: the server has no such tool any more")
	require.ErrorContains(t, err, "crm.send: the server's definition of it is sha256:")
	require.Empty(t, u.Calls())
	require.Len(t, h.entries(t, ledger.ToolDrifted), 2)
	require.Contains(t, h.entries(t, ledger.ToolReturned)[0].String("error"), "crm.gone")
}

// A credential in a server's answer goes no further.
func TestCredentialInResult(t *testing.T) {
	h, u := crm(t)
	u.Answer = func(*http.Request, string, json.RawMessage) string {
		return `{"content":[{"type":"text","text":"Bearer ` + canary + `"}]}`
	}
	var told error
	_, err := h.Issue("tell", Terms{Breach: func(why error) { told = why }})
	require.NoError(t, err)
	res, err := h.Call(t.Context(), call("crm.look", ""))
	require.ErrorIs(t, err, ErrCredential)
	require.ErrorIs(t, told, ErrCredential)
	require.Empty(t, res.Raw)
	require.NotContains(t, h.record(t), canary)
}

// A call that nobody knows the end of has no end on record.
func TestUnknownOutcome(t *testing.T) {
	h, u := crm(t)
	ctx, cancel := context.WithCancel(t.Context())
	u.Answer = func(r *http.Request, _ string, _ json.RawMessage) string {
		cancel()
		<-r.Context().Done()
		return `{"content":[]}`
	}
	_, err := h.Call(ctx, call("crm.look", ""))
	require.ErrorIs(t, err, connection.ErrUnknown)
	require.Len(t, h.entries(t, ledger.ToolRequested), 1)
	require.Empty(t, h.entries(t, ledger.ToolReturned))
	require.Len(t, u.Calls(), 1, "it is not tried again")
}

func TestApproval(t *testing.T) {
	for name, tc := range map[string]struct {
		mode, approve, action string
		approver              Approver
		kind                  fault.Kind // "": the call is made
		asked                 bool
	}{
		"read-only":                 {mode: "ask-risky", action: "crm.look"},
		"granted by the policy":     {mode: "granted", action: "crm.send"},
		"granted by the step":       {mode: "ask-all", approve: "granted", action: "crm.send"},
		"nobody to ask":             {mode: "ask-risky", action: "crm.send", kind: fault.Consent, asked: true},
		"everything is asked":       {mode: "ask-all", action: "crm.look", kind: fault.Consent, asked: true},
		"the step wants it asked":   {mode: "granted", approve: "ask", action: "crm.look", kind: fault.Consent, asked: true},
		"no mode is the stricter":   {action: "crm.send", kind: fault.Consent, asked: true},
		"a person says no":          {mode: "ask-risky", action: "crm.send", approver: saysNo, kind: fault.Policy, asked: true},
		"a person says yes":         {mode: "ask-risky", action: "crm.send", approver: saysYes, asked: true},
		"a person says yes to late": {mode: "ask-risky", action: "crm.send", approver: nil, kind: fault.Consent, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			h, u := crm(t)
			h.cfg.Approvals, h.cfg.Approver = tc.mode, tc.approver
			if strings.HasSuffix(name, "late") {
				h.cfg.Approver = func(context.Context, Approval) (string, error) {
					h.elapsed.Add(int64(ApprovalLimit + 1))
					return "ann", nil
				}
			}
			c := call(tc.action, `{"to":"a","text":"x"}`)
			c.Approve = tc.approve
			_, err := h.Call(t.Context(), c)
			require.Equal(t, tc.asked, len(h.entries(t, ledger.ApprovalRequested)) == 1)
			if tc.kind != "" {
				require.Equal(t, tc.kind, fault.KindOf(err))
				require.Empty(t, u.Calls())
				require.Len(t, h.entries(t, ledger.ApprovalDenied), 1)
				require.Equal(t, 1, h.Denied("tell").Calls)
				return
			}
			require.NoError(t, err)
			require.Len(t, u.Calls(), 1)
			if given := h.entries(t, ledger.ApprovalGranted); tc.asked {
				require.Equal(t, "ann, typed", given[0].String("by"))
				seq, _ := h.entries(t, ledger.ToolRequested)[0].Int("approval")
				require.Equal(t, given[0].Seq, seq)
			}
		})
	}
}

func saysNo(context.Context, Approval) (string, error) {
	return "", fault.New(fault.Policy, "ann said no")
}

func saysYes(_ context.Context, a Approval) (string, error) {
	if a.Step != "tell" || a.Action != "crm.send" || !strings.HasPrefix(a.Destination, "http://127.0.0.1:") || string(a.Arguments) != `{"to":"a","text":"x"}` {
		return "", fault.New(fault.Platform, "asked for %+v", a)
	}
	return "ann, typed", nil
}

// An approval is for one call: the next one asks again.
func TestApprovalIsUsedOnce(t *testing.T) {
	h, u := crm(t)
	h.cfg.Approvals = "ask-risky"
	n := 0
	digests := map[string]bool{}
	h.cfg.Approver = func(_ context.Context, a Approval) (string, error) {
		n++
		digests[a.Digest] = true
		return "ann", nil
	}
	for _, text := range []string{"x", "x", "y"} {
		_, err := h.Call(t.Context(), call("crm.send", `{"to":"a","text":"`+text+`"}`))
		require.NoError(t, err)
	}
	require.Equal(t, 3, n)
	require.Len(t, digests, 2)
	require.Len(t, u.Calls(), 3)
}
