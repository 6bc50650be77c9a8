package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
)

// TestShowQuickly holds that a part of a large ledger is shown as that of a small one is, that what is shown holds, and
// that an edit of what is not shown is said to be unchecked.
func TestShowQuickly(t *testing.T) {
	dir := t.TempDir()
	w, err := ledger.Create(dir, followed, "sha256:"+strings.Repeat("ab", 32), ledger.Options{})
	require.NoError(t, err)
	appendTo(t, w, ledger.RunStarted, "", ledger.Data{"agent": "weekly"})
	for range 6 { // a large ledger also without one of them
		appendTo(t, w, ledger.CommandStarted, "big", ledger.Data{"command": strings.Repeat("x", quickAbove/4), "bytes": quickAbove / 4})
	}
	appendTo(t, w, ledger.StepSkipped, "small", ledger.Data{"reason": "big failed"})
	appendTo(t, w, ledger.RunFinished, "", ledger.Data{"outcome": "failed"})
	require.NoError(t, w.Close())
	whole, err := os.ReadFile(filepath.Join(dir, ledger.FileName))
	require.NoError(t, err)

	for name, c := range map[string]struct {
		ledger []byte
		code   int
		out    string
		said   string
	}{
		"whole":               {whole, 0, "small  step skipped  big failed", "joy ledger verify checks the rest"},
		"what is shown":       {bytes.Replace(whole, []byte("big failed"), []byte("big broken"), 1), 7, "", "line 8 was edited"},
		"what is not shown":   {bytes.Replace(whole, []byte("xxxx"), []byte("xxyx"), 1), 0, "big failed", "joy ledger verify checks the rest"},
		"a line is gone":      {bytes.Join(slices.Delete(bytes.SplitAfter(whole, []byte("\n")), 1, 2), nil), 7, "", "is entry 3"},
		"its end was cut off": {whole[:bytes.LastIndex(whole, []byte(`{"seq":9`))], 0, "big failed", "there is no run.finished at its end"},
		"a torn end":          {whole[:len(whole)-9], 0, "big failed", "is incomplete: line 9 is torn"},
	} {
		t.Run(name, func(t *testing.T) {
			a, out, stderr := testApp(t)
			require.NoError(t, os.WriteFile(filepath.Join(a.dir, "l.jsonl"), c.ledger, 0o600))
			err := a.execute(t.Context(), []string{"ledger", "show", "l.jsonl", "--step", "small"})
			code := exitCode(err)
			if err != nil {
				code = a.report(err)
			}
			require.Equal(t, c.code, code)
			require.Contains(t, out.String(), c.out)
			require.Contains(t, stderr.String(), c.said)
		})
	}
}
