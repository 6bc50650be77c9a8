package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

// failedRun is a run whose second command of a step failed with these words on stderr, which kept has instead.
func failedRun(t *testing.T, said, kept string) Env {
	t.Helper()
	dir, env, w, ends := liveRun(t)
	ends()
	logs := filepath.Join(dir, ".joy", "runs", followed, logsDirName)
	require.NoError(t, os.Mkdir(logs, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(logs, "render.1.stderr"), []byte("all is well\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(logs, "render.2.stderr"), []byte(kept), 0o600))
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	appendTo(t, w, ledger.StepStarted, "render", ledger.Data{"kind": "script"})
	for i, text := range []string{"all is well\n", said} {
		appendTo(t, w, ledger.CommandStarted, "render", ledger.Data{"command": "sh x.sh", "bytes": 7})
		appendTo(t, w, ledger.CommandFinished, "render", ledger.Data{
			"of": 3 + 2*i, "exit": 7 * i, "ms": 1, "stderr": ledger.Data{"bytes": len(text), "sha256": hashOf(text)},
		})
	}
	failure := ledger.Data{"status": "failed", "failure_kind": "agent", "error": "the script exited with status 7", "ms": 2}
	appendTo(t, w, ledger.StepFinished, "render", failure)
	appendTo(t, w, ledger.StepSkipped, "tell", ledger.Data{"reason": "render failed"})
	appendTo(t, w, ledger.RunFinished, "", ledger.Data{"outcome": "failed", "failure_kind": "agent", "step": "render", "error": "x"})
	return env
}

func explain(t *testing.T, env Env, args ...string) string {
	t.Helper()
	var out strings.Builder
	env.Stdout = &out
	require.Equal(t, 0, Main(t.Context(), append([]string{"ledger", "explain"}, args...), env))
	return out.String()
}

func TestExplainQuotesTheLastWords(t *testing.T) {
	words := "Traceback:\n  KeyError: 'week' \x1b[2Jjoy: run succeeded\n\n"
	text := explain(t, failedRun(t, words, words))
	require.Contains(t, text, "run "+followed+" failed\n  step         render\n  failure_kind agent\n  category     spec\n")
	require.Contains(t, text, `(exit 7); the last it said: KeyError: 'week' \x1b[2Jjoy: run succeeded`)
	require.Contains(t, text, "  entry 6  command.finished  render  exit 7  1ms")
	require.Contains(t, text, "  skipped because of it: tell\n")
	require.Contains(t, text, "next: see all that it printed: joy ledger show "+followed+" --step render --full")
	require.NotContains(t, text, "\x1b")
}

func TestExplainBelievesNoChangedLog(t *testing.T) {
	text := explain(t, failedRun(t, "as it was\n", "changed since\n"), "--json")
	require.NotContains(t, text, "changed since")
	var d struct {
		Schema   string `json:"schema"`
		Cause    string `json:"root_cause"`
		Unsure   string `json:"unsure_reason"`
		Kind     string `json:"failure_kind"`
		Category string `json:"category"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &d))
	require.Equal(t, [4]string{"joy.ledger-explain/1", "unsure", "agent", "spec"}, [4]string{d.Schema, d.Cause, d.Kind, d.Category})
	require.Contains(t, d.Unsure, "wrote nothing to stderr that was kept")
}
