package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// TestLiveView holds that no line is wider than the terminal, and that what a reviewer looks for is not cut off there.
func TestLiveView(t *testing.T) {
	long := strings.Repeat("/usr/lib/somewhere", 8)
	reason := "root@vm did not approve the call of files.write_file, and nobody else was there to be asked"
	for name, c := range map[string]struct {
		typ   ledger.Type
		data  ledger.Data
		has   []string
		never string
		lines int
	}{
		"a short one":       {ledger.StepFinished, ledger.Data{"status": "succeeded"}, []string{"step finished      succeeded"}, "", 1},
		"a long one":        {ledger.CommandStarted, ledger.Data{"command": long}, []string{"…"}, "", 1},
		"a long type":       {ledger.ApprovalRequested, ledger.Data{"action": "a.b", "destination": long}, []string{"approval requested  a.b", "…"}, "", 1},
		"a reason":          {ledger.ToolDenied, ledger.Data{"action": "a.b", "reason": reason}, []string{"root@vm did not approve", "to be asked"}, "…", 3},
		"an endless reason": {ledger.ToolDenied, ledger.Data{"action": "a.b", "reason": strings.Repeat(long, 9)}, []string{"…"}, "", wrapLines},
		"a manual start":    {ledger.RunStarted, ledger.Data{"agent": "weekly", "trigger": "manual"}, []string{"weekly"}, "manual", 1},
		"an exercise":       {ledger.RunStarted, ledger.Data{"agent": "weekly", "trigger": "exercise"}, []string{"weekly  exercise"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, stdout, _ := testApp(t)
			a.out.tty, a.out.width = true, 80
			dir := t.TempDir()
			w, err := ledger.Create(dir, "r", "sha256:"+strings.Repeat("ab", 32), ledger.Options{Tee: a.liveView(&plan.Plan{Steps: []plan.Step{{ID: "drop"}}})})
			require.NoError(t, err)
			if c.typ == ledger.RunStarted {
				appendTo(t, w, c.typ, "", c.data)
			} else {
				appendTo(t, w, ledger.RunStarted, "", ledger.Data{})
				appendTo(t, w, c.typ, "drop", c.data)
			}
			require.NoError(t, w.Close())
			lines := strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
			if c.typ != ledger.RunStarted {
				lines = lines[1:]
			}
			require.Len(t, lines, c.lines)
			for _, line := range lines {
				require.LessOrEqual(t, ansi.StringWidth(line), 80, line)
			}
			text := strings.Join(strings.Fields(stdout.String()), " ")
			for _, want := range c.has {
				require.Contains(t, text, strings.Join(strings.Fields(want), " "))
			}
			require.False(t, c.never != "" && strings.Contains(text, c.never), text)
		})
	}
}
