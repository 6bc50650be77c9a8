//go:build linux

package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/model/modeltest"
)

// joy ledger show has a line for a turn, and with --full what was said in it, as text, in both forms.
func TestModelIsShown(t *testing.T) {
	for provider := range wires {
		t.Run(provider, func(t *testing.T) {
			b, _ := words(t, provider, modeltest.Script(
				modeltest.Reply{Text: "I look.", Calls: []modeltest.Call{call("look", map[string]any{"at": "sea"}), call("look", nil)}}, titled,
			), "")
			code, _, stderr := b.run("run", "--jsonl", "--input", "text=a storm")
			require.Zero(t, code, stderr)
			_, shown, _ := b.run("ledger", "show", "--type", "model")
			require.Regexp(t, `turn 1  `+provider+`/test-1  \S+ KiB`, shown)
			require.Regexp(t, `turn 1  asks for look ×2  10[03] in \+7 cached, 10 out  `, shown)
			require.Regexp(t, `turn 2  answers  `, shown)
			_, full, _ := b.run("ledger", "show", "--type", "model", "--full")
			require.Regexp(t, `request \| .*<data id=[0-9a-f]{8} from="input">\n +request \| \{"text":"a storm"\}`, full)
			require.Contains(t, full, "    response | I look.\n    response | → look {\"at\":\"sea\"}\n    response | → look null\n")
			require.Contains(t, full, `there is no tool "look"`)
			require.Contains(t, full, `response | {"title": "A Day at Sea"}`)
			require.NotContains(t, full, "event: message_start")
			require.NotContains(t, full, "is not kept here")
		})
	}
}
