package export

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// spanStart says what an entry that begins a span is called: name, then the member of data that says of what.
type spanStart struct {
	name, subject string
	kind          int
	operation     string // gen_ai.operation.name; "" when the conventions have none
}

// spanStarts are the entries that begin a span; spanEnds those that go on with it or end it.
var (
	spanStarts = map[string]spanStart{
		"step.started":       {"step", "", kindInternal, ""},
		"sandbox.requested":  {"sandbox", "provider", kindInternal, ""},
		"command.started":    {"command", "", kindInternal, ""},
		"tool.requested":     {"execute_tool", "action", kindInternal, "execute_tool"},
		"model.requested":    {"chat", "model", kindClient, "chat"},
		"egress.allowed":     {"connect", "host", kindClient, ""},
		"approval.requested": {"approval", "action", kindInternal, ""},
	}
	spanEnds = map[string]string{
		"run.finished": "run.started", "run.sealed": "run.started",
		"step.finished":   "step.started",
		"sandbox.created": "sandbox.requested", "sandbox.lost": "sandbox.requested", "sandbox.destroyed": "sandbox.requested",
		"command.finished": "command.started",
		"tool.returned":    "tool.requested",
		"model.replied":    "model.requested",
		"egress.closed":    "egress.allowed",
		"approval.granted": "approval.requested", "approval.denied": "approval.requested",
	}
)

// ofStep says whether the span lies in its step's. The VM outlives the step that was the first to need it.
func (f spanStart) ofStep() bool { return f.name != "sandbox" }

func (f spanStart) nameOf(e verify.Entry) (name, subject string) {
	if e.Type != "step.started" {
		return f.name, e.String(f.subject)
	}
	if e.String("kind") == "model" {
		return "invoke_agent", e.Step
	}
	return f.name, e.Step
}

func (f spanStart) operationOf(e verify.Entry) string {
	if e.Type == "step.started" && e.String("kind") == "model" {
		return "invoke_agent"
	}
	return f.operation
}

// names are the members of data that the conventions have a name for, by the first part of the entry's type.
var names = map[string]map[string]string{
	"run":      {"agent": "gen_ai.agent.name", "plan": "gen_ai.agent.version", "failure_kind": "error.type"},
	"step":     {"failure_kind": "error.type"},
	"command":  {"command": "process.command_line", "exit": "process.exit.code"},
	"tool":     {"action": "gen_ai.tool.name"},
	"approval": {"action": "gen_ai.tool.name"},
	"egress":   {"host": "server.address", "port": "server.port", "address": "network.peer.address"},
	"model": { // #nosec G101 -- tokens of a model are no credentials
		"provider": "gen_ai.provider.name", "model": "gen_ai.request.model", "max_tokens": "gen_ai.request.max_tokens",
		"status": "http.response.status_code", "tokens.out": "gen_ai.usage.output_tokens",
		"tokens.cache_read": "gen_ai.usage.cache_read.input_tokens", "tokens.cache_write": "gen_ai.usage.cache_creation.input_tokens",
	},
}

// silent are members that a span says in another way, or that telemetry has no business with: who started a run and who
// approved a call stays in the ledger.
var silent = map[string]bool{"of": true, "ms": true, "actor": true, "by": true, "key": true, "entries": true}

// describe gives s what e says, each member once.
func describe(s *span, e verify.Entry) {
	family := familyOf(e.Type)
	flat("", e.Data, func(name string, v any) {
		if first, _, _ := strings.Cut(name, "."); silent[first] {
			return
		}
		to, ok := names[family][name]
		if !ok {
			to = "joy." + family + "." + name
		}
		if e.Type == "model.replied" && name == "model" {
			to = "gen_ai.response.model" // the one that answered
		}
		s.set(to, v)
	})
	if e.Type == "model.replied" {
		answered(s, e)
	}
	if e.Type == "step.started" && e.String("kind") == "model" {
		s.set("gen_ai.agent.name", e.String("skill"))
	}
	if e.Type == "tool.requested" {
		s.set("gen_ai.tool.type", "extension") // joy calls it, not who asked for the call
	}
}

// answered says what the conventions derive from a reply: their input tokens are all, those from a cache among them.
func answered(s *span, e verify.Entry) {
	if stop := e.String("stop"); stop != "" {
		s.set("gen_ai.response.finish_reasons", []any{stop})
	}
	tokens, ok := e.Data["tokens"].(map[string]any)
	if !ok {
		return
	}
	var total int64
	for _, name := range []string{"in", "cache_read", "cache_write"} {
		n, _ := tokens[name].(int64)
		total += n
	}
	s.set("gen_ai.usage.input_tokens", total)
}

// familyOf is the part of a type before its dot.
func familyOf(typ string) string {
	family, _, _ := strings.Cut(typ, ".")
	return family
}

// judge gives s the error that e ends it with, if it is one.
func judge(s *span, e verify.Entry) {
	switch e.Type {
	case "run.finished":
		if e.String("outcome") != "succeeded" {
			s.fail(cmp.Or(e.String("failure_kind"), e.String("outcome")), cmp.Or(e.String("error"), e.String("outcome")))
		}
	case "step.finished":
		if e.String("status") != "succeeded" {
			s.fail(cmp.Or(e.String("failure_kind"), e.String("status")), cmp.Or(e.String("error"), e.String("status")))
		}
	case "command.finished":
		exit, exited := e.Int("exit")
		switch {
		case !exited:
			s.fail(cmp.Or(e.String("reason"), e.String("ended_by")), "ended by "+cmp.Or(e.String("ended_by"), "something unknown"))
		case exit != 0:
			s.fail(cmp.Or(e.String("reason"), "exit"), "exit "+strconv.FormatInt(exit, 10))
		}
	case "tool.returned", "model.replied":
		if failed, _ := e.Data["failed"].(bool); failed || e.String("error") != "" {
			s.fail(familyOf(e.Type)+"_error", cmp.Or(e.String("error"), "the tool says that it failed"))
		}
	case "sandbox.lost":
		s.fail("lost", e.String("reason"))
	case "sandbox.destroyed":
		if verified, _ := e.Data["verified"].(bool); !verified {
			s.fail("alive", cmp.Or(e.String("error"), "it may still be alive"))
		}
	case "approval.denied":
		s.fail("denied", e.String("reason"))
	}
}
