package cli

import (
	"testing"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/verify"
)

func TestPhrase(t *testing.T) {
	digest := "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		typ  string
		data map[string]any
		want string
	}{
		"nothing":              {"run.started", map[string]any{}, ""},
		"other kind of lead":   {"command.finished", map[string]any{"exit": "no", "of": int64(3)}, "exit no"},
		"a failed command":     {"command.finished", map[string]any{"exit": int64(137), "signal": "SIGKILL", "ms": int64(61500)}, "exit 137  SIGKILL  1m1.5s"},
		"a body":               {"command.finished", map[string]any{"exit": int64(0), "stdout": map[string]any{"bytes": int64(1536), "sha256": digest}}, "exit 0  stdout=1.5 KiB"},
		"a short digest":       {"tool.drifted", map[string]any{"action": "a.b", "was": digest}, "a.b  was=0123456789ab…"},
		"a digest in text":     {"sandbox.lost", map[string]any{"reason": "no " + digest + " here"}, "no 0123456789ab… here"},
		"lists and objects":    {"file.read", map[string]any{"a": []any{int64(1), true, "x"}, "b": map[string]any{"y": int64(2), "x": []any{}}}, "a=[1, true, x]  b={x=[] y=2}"},
		"a call":               {"tool.requested", map[string]any{"action": "a.b", "tool": digest, "arguments": map[string]any{"bytes": int64(12)}}, "a.b  arguments=12 B"},
		"its result":           {"tool.returned", map[string]any{"action": "a.b", "failed": false, "of": int64(3), "ms": int64(20), "result": map[string]any{"bytes": int64(12)}}, "a.b  20ms  result=12 B"},
		"files without a name": {"artifact.skipped", map[string]any{"name": "", "reason": "the collection ended early", "bytes": int64(0)}, "the collection ended early  0 B"},
		"its failure":          {"tool.returned", map[string]any{"action": "a.b", "failed": true, "result": map[string]any{"bytes": int64(12)}}, "a.b  failed=true  result=12 B"},
		"a denied call":        {"tool.denied", map[string]any{"action": "a.b", "reason": "no more", "kind": "policy"}, "a.b  no more  kind=policy"},
		"a denied host":        {"egress.denied", map[string]any{"host": "x.org:443", "to": "host", "reason": "not granted"}, "x.org:443  not granted"},
		"a denied request":     {"egress.denied", map[string]any{"to": "joy", "reason": "no token"}, "joy  no token"},
		"a changed tool":       {"tool.drifted", map[string]any{"action": "a.b", "pinned": digest}, "a.b  pinned=0123456789ab…"},
		"a person's yes":       {"approval.granted", map[string]any{"action": "a.b", "by": "ann@host, typed", "digest": digest}, "a.b  ann@host, typed"},
		"a tunnel":             {"egress.closed", map[string]any{"host": "x.org", "up": int64(512), "down": int64(1536), "ms": int64(20)}, "x.org  down=1.5 KiB  20ms  up=512 B"},
		"a turn": {"model.replied", map[string]any{
			"turn": int64(3), "stop": "tools", "calls": int64(20), "asked": []any{"run", "run", "write_file"}, "ms": int64(2100), "cost_microdollars": int64(12300),
			"tokens": map[string]any{"in": int64(1200), "out": int64(310), "cache_read": int64(7000), "cache_write": int64(34)},
		}, "turn 3  asks for run ×2, write_file, 17 more  1234 in +7000 cached, 310 out  about $0.0123  2.1s"},
		"a last turn":      {"model.replied", map[string]any{"turn": int64(4), "stop": "end", "ms": int64(20), "attempts": int64(2)}, "turn 4  answers  20ms  2 attempts"},
		"a failed turn":    {"model.replied", map[string]any{"turn": int64(1), "error": "refused", "ms": int64(20)}, "turn 1  refused  20ms"},
		"a question":       {"model.requested", map[string]any{"turn": int64(1), "provider": "openai", "model": "m", "request": map[string]any{"bytes": int64(1536)}}, "turn 1  openai/m  1.5 KiB"},
		"unknown to leads": {"model.replied", map[string]any{"tokens": int64(12)}, "tokens=12"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, phrase(verify.Entry{Type: c.typ, Data: c.data}))
		})
	}
}

func TestLeadsAreOfKnownTypes(t *testing.T) {
	for typ := range leads {
		require.True(t, verify.Known(typ), typ)
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "-1 B", 0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 48213: "47.1 KiB", 2 << 30: "2 GiB", 1<<53 - 1: "8 PiB",
	} {
		require.Equal(t, want, term.Size(n))
	}
}
