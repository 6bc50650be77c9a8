package broker

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// serverInfo is how the gateway names itself. Its version is that of what it offers, not joy's.
const serverInfo = `{"name":"joy","version":"1"}`

const about = `"instructions":"These are the tools that the plan grants this step. A call that the plan does not allow is denied, on record, and can end the run: do not try it again."`

// discovered is the answer to server/discover. What is granted does not change while a step runs; it is the step's own.
var discovered = json.RawMessage(`{"resultType":"complete","supportedVersions":` + list(versions) +
	`,"capabilities":{"tools":{}},` + about + `,"ttlMs":0,"cacheScope":"private","_meta":{"` + metaServer + `":` + serverInfo + `}}`)

func list(words []string) string { return `["` + strings.Join(words, `","`) + `"]` }

// initialized is the answer to initialize, in the client's version when there is such a one before modern.
func initialized(params json.RawMessage) json.RawMessage {
	var p struct {
		Version string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(params, &p) // no version: ours
	if !slices.Contains(versions[1:], p.Version) {
		p.Version = versions[1]
	}
	return json.RawMessage(`{"protocolVersion":"` + p.Version + `","capabilities":{"tools":{}},"serverInfo":` + serverInfo + `,` + about + `}`)
}

// listTools shows a step its grants, all on one page.
func (b *Broker) listTools(g *grant, m message) (json.RawMessage, *rpcError) {
	var shown []string
	for _, granted := range g.terms.Tools {
		t, ok := b.cfg.Pins.find(granted.Action)
		if !ok {
			continue // calls of it are denied
		}
		def, err := shownTool(t, granted)
		if err != nil {
			return nil, rpcFail(codeInternal, granted.Action+": "+err.Error())
		}
		shown = append(shown, string(def))
	}
	result := `{"tools":[` + strings.Join(shown, ",") + `]`
	if m.modern {
		result += `,"resultType":"complete","ttlMs":0,"cacheScope":"private"`
	}
	return json.RawMessage(result + "}"), nil
}

// callTool calls one of a step's tools. A denial is an answer of the tool's, so that a model reads it; that there is no
// such tool is an error of the request.
func (b *Broker) callTool(r *http.Request, m message) (json.RawMessage, *rpcError) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || p.Name == "" {
		return nil, rpcFail(codeParams, "tools/call takes a name and arguments")
	}
	g := grantOf(r)
	granted, ok := grantFor(g, p.Name)
	if !ok {
		if err := b.denyUnknown(g.step, p.Name); err != nil {
			return nil, rpcFail(codeInternal, "what cannot be recorded does not happen")
		}
		return nil, rpcFail(codeParams, "unknown tool: "+b.shown(p.Name))
	}
	raw, err := b.callFor(r.Context(), g, string(m.ID), granted, p.Arguments)
	if err != nil {
		return b.failed(err, m.modern), nil
	}
	return forward(raw, m.modern), nil
}

func grantFor(g *grant, action string) (plan.Grant, bool) {
	i := slices.IndexFunc(g.terms.Tools, func(t plan.Grant) bool { return t.Action == action })
	if i < 0 {
		return plan.Grant{}, false
	}
	return g.terms.Tools[i], true
}

// denyUnknown records a call of what the step is not granted.
func (b *Broker) denyUnknown(step, action string) error {
	return b.recordDenial(Call{Step: step, Grant: plan.Grant{Action: action}}, fault.New(fault.Policy, "the plan does not grant it to this step"))
}

// failed is an error as a tool's answer.
func (b *Broker) failed(err error, isModern bool) json.RawMessage {
	text, _ := json.Marshal(b.Explain(err))
	result := `{"content":[{"type":"text","text":` + string(text) + `}],"isError":true`
	if isModern {
		result += `,"resultType":"complete"`
	}
	return json.RawMessage(result + "}")
}

// forward is a server's result for a client of the gateway. What one version of the protocol says about itself is not
// carried into another; everything else passes as it came.
func forward(raw json.RawMessage, isModern bool) json.RawMessage {
	text := string(raw)
	plain := !strings.Contains(text, metaPrefix) && !strings.Contains(text, "resultType")
	if plain && !isModern {
		return raw
	}
	result, err := readObject(raw)
	if err != nil {
		return raw
	}
	if meta, err := readObject(orEmpty(result.get("_meta"))); err == nil && !plain {
		meta.cut(func(key string) bool { return strings.HasPrefix(key, metaPrefix) })
		if result.set("_meta", meta.json()); len(meta) == 0 {
			result.cut(func(key string) bool { return key == "_meta" })
		}
	}
	result.cut(func(key string) bool { return key == "resultType" })
	if isModern {
		result.set("resultType", json.RawMessage(`"complete"`))
	}
	return result.json()
}

// agrees compares a header, when it is there, with what a request says. A value that is no token is in base64.
func agrees(h http.Header, header, said string) bool {
	value := h.Get(header)
	if coded, ok := strings.CutPrefix(value, "=?base64?"); ok {
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(coded, "?="))
		if err != nil {
			return false
		}
		value = string(plain)
	}
	return value == "" || value == said
}
