package plan

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/joystream-ai/joy/internal/policy"
)

// widening says why a changed value lets a run do more than before, or "" when it does not. A key is the name of a field
// as Compare calls its kind. What is not here widens nothing: it is what the plan does, not what it may do.
var widening = map[string]func(before, after any) string{
	"agent.workspace": another("another workspace, with other credentials"),

	"model.provider":   another("another provider gets what the model step sees"),
	"model.base_url":   always("the model is asked at another place"),
	"model.key":        another("another secret"),
	"model.max_turns":  raised,
	"model.max_tokens": raised,
	"model.max_cost":   unbounded,

	"policy.isolation":           looser("emulation is accepted", "hardware", "any"),
	"policy.approvals":           looser("less is asked for", "ask-all", "ask-risky", "granted"),
	"policy.start":               looser("a memory snapshot is accepted", "cold", "any"),
	"policy.cpus":                raised,
	"policy.memory":              raised,
	"policy.disk":                raised,
	"policy.timeout":             raised,
	"policy.artifacts.max_file":  raised,
	"policy.artifacts.max_total": raised,
	"policy.artifacts.max_files": raised,

	"setup.timeout": raised,

	"connection.transport":  another("another service"),
	"connection.argv":       another("another program on this machine"),
	"connection.url":        another("another service"),
	"connection.server":     replaced,
	"connection.unconfined": another("the program is not confined"),
	"connection.file":       replaced,
	"connection.secret":     another("another secret"),
	"tool":                  replaced,

	"image.profile":       another("another image"),
	"image.microvm.amd64": replaced,
	"image.microvm.arm64": replaced,
	"image.kata.amd64":    replaced,
	"image.kata.arm64":    replaced,
	"image.e2b.template":  replaced,
	"image.e2b.build":     replaced,

	"step.action":     another("another tool"),
	"step.approve":    looser("less is asked for", "ask", "", "granted"),
	"step.timeout":    raised,
	"step.sandbox":    dropped,
	"grant.with":      unfixed,
	"grant.max_calls": unbounded,
}

// appears says why something new lets a run do more than before. old is the list that it was added to, where it is an
// element of one.
func appears(kind string, old, added any) string {
	had, _ := old.([]string)
	name, _ := added.(string)
	switch kind {
	case "model":
		return "a model is asked"
	case "setup":
		return "a script runs before every step"
	case "connection":
		return "another service"
	case "connection.env", "connection.secret":
		return "another secret"
	case "tool", "grant":
		return "another tool"
	case "allow":
		return "a finding is accepted"
	case "policy.providers":
		return "another provider is accepted"
	case "policy.egress", "setup.egress", "step.egress":
		if !policy.Covers(had, name) {
			return "another host can be reached"
		}
	case "step":
		return newStep(added)
	}
	return ""
}

// newStep judges what a step may do by itself; its grants are judged one by one.
func newStep(added any) string {
	s, _ := added.(Step)
	switch {
	case s.Approve == "granted":
		return "a tool is called without asking"
	case s.Kind == Action:
		return "another tool is called"
	}
	return ""
}

// another is for a value that names a thing: a new one is more than before, none is not.
func another(why string) func(before, after any) string {
	return func(_, after any) string {
		if words(after) == "none" {
			return ""
		}
		return why
	}
}

// always is for a place: the usual one, which is not spelled out, is another place too.
func always(why string) func(before, after any) string {
	return func(_, _ any) string { return why }
}

// replaced is for a pin: a first one and none are no replacement.
func replaced(before, after any) string {
	none := func(v any) bool { w := words(v); return w == "none" || w == "not pinned" }
	if none(before) || none(after) || words(before) == words(after) {
		return ""
	}
	return "an outside pin is replaced"
}

const limitRaised = "a limit is raised"

func raised(before, after any) string {
	if amount(after) > amount(before) {
		return limitRaised
	}
	return ""
}

// unbounded is raised for limits of which 0 is none.
func unbounded(before, after any) string {
	a, b := amount(before), amount(after)
	if a != 0 && (b == 0 || b > a) {
		return limitRaised
	}
	return ""
}

// amount is any limit of a plan as a number; those of a real plan are far below 2^53.
func amount(v any) float64 {
	switch t := v.(type) {
	case int:
		return float64(t)
	case float64:
		return t
	case policy.Size:
		return float64(t)
	case policy.Duration:
		return float64(t)
	}
	return 0
}

// looser is for a word of a scale, the strictest first. A word the scale does not have is looser than all.
func looser(why string, scale ...string) func(before, after any) string {
	at := func(v any) int {
		word, _ := v.(string)
		if i := slices.Index(scale, word); i >= 0 {
			return i
		}
		return len(scale)
	}
	return func(before, after any) string {
		if at(after) > at(before) {
			return why
		}
		return ""
	}
}

func dropped(before, after any) string {
	a, _ := before.(Sandbox)
	b, _ := after.(Sandbox)
	if (Step{Sandbox: a}).NeedsVM() && !(Step{Sandbox: b}).NeedsVM() {
		return "it no longer runs in the sandbox"
	}
	return ""
}

// unfixed tells when an argument that was fixed is free or has another value.
func unfixed(before, after any) string {
	a, _ := before.(json.RawMessage)
	b, _ := after.(json.RawMessage)
	var fixed, now map[string]json.RawMessage
	if json.Unmarshal(a, &fixed) != nil || json.Unmarshal(b, &now) != nil {
		return "the arguments are fixed otherwise"
	}
	for key, value := range fixed {
		if !bytes.Equal(now[key], value) { // both are canonical
			return "an argument is no longer fixed as it was"
		}
	}
	return ""
}
