package export_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/joystream-ai/joy/internal/ledger"
)

// spansOf lets the collector's reader read the trace, which refuses what OTLP does not have.
func spansOf(t *testing.T, out string) (list []ptrace.Span, byName map[string]ptrace.Span) {
	t.Helper()
	un := ptrace.JSONUnmarshaler{DisallowUnknownFields: true}
	traces, err := un.UnmarshalTraces([]byte(out))
	require.NoError(t, err)
	byName = map[string]ptrace.Span{}
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				list = append(list, s)
				byName[s.Name()] = s
			}
		}
	}
	require.Len(t, list, traces.SpanCount())
	return list, byName
}

func attrs(s ptrace.Span) map[string]any { return s.Attributes().AsRaw() }

func trace(t *testing.T, records []record) string {
	t.Helper()
	out, err := exported(t, "otlp", written(t, records), nil)
	require.NoError(t, err)
	return out
}

func TestTrace(t *testing.T) {
	out := trace(t, story)
	require.Equal(t, out, trace(t, story), "the same at each export")
	list, byName := spansOf(t, out)
	require.Len(t, list, 11)
	root := byName["invoke_workflow weekly-report"]
	require.True(t, root.ParentSpanID().IsEmpty())
	for i, s := range list {
		require.Equal(t, root.TraceID(), s.TraceID())
		require.False(t, s.TraceID().IsEmpty() || s.SpanID().IsEmpty())
		require.LessOrEqual(t, s.StartTimestamp(), s.EndTimestamp(), s.Name())
		require.GreaterOrEqual(t, s.StartTimestamp(), root.StartTimestamp())
		require.LessOrEqual(t, s.EndTimestamp(), root.EndTimestamp())
		for _, other := range list[:i] {
			require.NotEqual(t, other.SpanID(), s.SpanID())
		}
	}
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": "weekly-report", "gen_ai.agent.version": ab,
	}, only(attrs(root), "gen_ai.*"))
	require.Equal(t, "complete", attrs(root)["joy.ledger.state"])
	require.NotContains(t, out, "laptop", "who started it")
	require.NotContains(t, out, "ada", "who approved it")
	require.Equal(t, ptrace.StatusCodeUnset, root.Status().Code())

	step, sandbox := byName["step render"], byName["sandbox microvm"]
	require.Equal(t, root.SpanID(), step.ParentSpanID())
	require.Equal(t, root.SpanID(), sandbox.ParentSpanID(), "it outlives the step")
	require.Greater(t, sandbox.EndTimestamp(), byName["step drop"].EndTimestamp())
	require.Equal(t, []string{"egress.denied", "tool.denied", "artifact.stored"}, events(step))

	tool := byName["execute_tool drive.upload"]
	require.Equal(t, byName["step drop"].SpanID(), tool.ParentSpanID())
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "drive.upload", "gen_ai.tool.type": "extension",
	}, only(attrs(tool), "gen_ai.*"))

	chat := byName["chat claude-sonnet-5"]
	require.Equal(t, ptrace.SpanKindClient, chat.Kind())
	require.Equal(t, byName["invoke_agent tell"].SpanID(), chat.ParentSpanID())
	require.Equal(t, map[string]any{
		"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-sonnet-5",
		"gen_ai.request.max_tokens": int64(1000), "gen_ai.usage.input_tokens": int64(123), "gen_ai.usage.output_tokens": int64(33),
		"gen_ai.usage.cache_read.input_tokens": int64(100), "gen_ai.usage.cache_creation.input_tokens": int64(3),
		"gen_ai.response.model": "claude-sonnet-5-20260930", "gen_ai.response.finish_reasons": []any{"end"},
	}, only(attrs(chat), "gen_ai.*"))

	for _, s := range list {
		switch {
		case attrs(s)["process.command_line"] == "python3 render.py":
			require.Equal(t, step.SpanID(), s.ParentSpanID())
			require.Equal(t, ptrace.StatusCodeError, s.Status().Code())
			require.Equal(t, "exit 3", s.Status().Message())
			require.EqualValues(t, 3, attrs(s)["process.exit.code"])
		case s.Name() != "command":
			require.Equal(t, ptrace.StatusCodeUnset, s.Status().Code(), s.Name())
		}
	}
	require.Equal(t, "files.example.com", attrs(byName["connect files.example.com"])["server.address"])
}

// only is the attributes whose names begin as pattern does.
func only(all map[string]any, pattern string) map[string]any {
	out, re := map[string]any{}, regexp.MustCompile("^"+pattern)
	for key, v := range all {
		if re.MatchString(key) {
			out[key] = v
		}
	}
	return out
}

func events(s ptrace.Span) (list []string) {
	for _, e := range s.Events().All() {
		list = append(list, e.Name())
	}
	return list
}

func TestTraceOfFailures(t *testing.T) {
	start := ledger.Data{"kind": "script", "skill": "s"}
	_, byName := spansOf(t, trace(t, []record{
		story[0],
		{ledger.StepStarted, "a", start},
		{ledger.SandboxRequested, "a", ledger.Data{"provider": "microvm"}},
		{ledger.SandboxLost, "a", ledger.Data{"of": 3, "reason": "it went away"}},
		{ledger.CommandStarted, "a", ledger.Data{"command": "sleep 9"}},
		{ledger.CommandFinished, "a", ledger.Data{"of": 5, "ended_by": "joy", "reason": "oom"}},
		{ledger.ToolRequested, "a", ledger.Data{"action": "drive.upload"}},
		{ledger.ToolReturned, "a", ledger.Data{"of": 7, "action": "drive.upload", "failed": true}},
		{ledger.ApprovalRequested, "a", ledger.Data{"action": "mail.send"}},
		{ledger.ApprovalDenied, "a", ledger.Data{"action": "mail.send", "reason": "nobody answered"}}, // names no start
		{ledger.StepFinished, "a", ledger.Data{"status": "failed", "failure_kind": "platform", "error": "the VM was lost"}},
		{ledger.StepSkipped, "b", ledger.Data{"reason": "a failed"}},
		{ledger.SandboxDestroyed, "", ledger.Data{"of": 3, "verified": true}},
		{ledger.RunFinished, "", ledger.Data{"outcome": "failed", "failure_kind": "platform", "error": "the VM was lost"}},
	}))
	for name, want := range map[string][2]string{
		"invoke_workflow weekly-report": {"platform", "the VM was lost"},
		"step a":                        {"platform", "the VM was lost"},
		"sandbox microvm":               {"lost", "it went away"},
		"command":                       {"oom", "ended by joy"},
		"execute_tool drive.upload":     {"tool_error", "the tool says that it failed"},
		"approval mail.send":            {"denied", "nobody answered"},
	} {
		s := byName[name]
		require.Equal(t, ptrace.StatusCodeError, s.Status().Code(), name)
		require.Equal(t, want[0], attrs(s)["error.type"], name)
		require.Equal(t, want[1], s.Status().Message(), name)
	}
	require.Len(t, byName, 6)
	require.Equal(t, []string{"step.skipped"}, events(byName["invoke_workflow weekly-report"]))
}

// What was under way when the ledger ends has an end of which nobody knows more.
func TestTraceOfAnIncompleteLedger(t *testing.T) {
	list, byName := spansOf(t, trace(t, story[:7]))
	require.Len(t, list, 4)
	for _, s := range list {
		require.Equal(t, ptrace.StatusCodeError, s.Status().Code(), s.Name())
		require.Equal(t, "unknown", attrs(s)["error.type"], s.Name())
		require.NotZero(t, s.EndTimestamp(), s.Name())
	}
	root := byName["invoke_workflow weekly-report"]
	require.Equal(t, "incomplete", attrs(root)["joy.ledger.state"])
	require.Contains(t, root.Status().Message(), "there is no run.finished")
	require.Equal(t, true, attrs(byName["command"])["joy.outcome_unknown"])
}

func TestTraceWithManyEvents(t *testing.T) {
	records := []record{story[0]}
	for i := range 500 {
		records = append(records, record{ledger.EgressDenied, "", ledger.Data{"host": fmt.Sprint(i), "reason": "no"}})
	}
	list, _ := spansOf(t, trace(t, append(records, story[len(story)-1])))
	require.Len(t, list, 1)
	require.Equal(t, 128, list[0].Events().Len())
	require.EqualValues(t, 500-128, list[0].DroppedEventsCount())
}

// A terminal acts on nothing that a stranger wrote, and a reader gets all of it.
func TestTraceOfHostileText(t *testing.T) {
	const nasty = "\x1b[2J\u009b31m\u202egpj.exe\u2028\U000e0041 <&> \"é😀"
	out := trace(t, []record{
		story[0],
		{ledger.CommandStarted, "", ledger.Data{"command": nasty}},
		{ledger.CommandFinished, "", ledger.Data{"of": 2, "exit": 0}},
		story[len(story)-1],
	})
	require.NotRegexp(t, "[\x00-\x09\x0b-\x1f\x7f\u0080-\u009f\u2028\u202e\U000e0041]", out)
	_, byName := spansOf(t, out)
	require.Equal(t, nasty, attrs(byName["command"])["process.command_line"])
}
