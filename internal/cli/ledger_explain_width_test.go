package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/account"
)

// TestEvidenceIsWhole holds that what an explanation rests on is not cut off at the terminal's edge.
func TestEvidenceIsWhole(t *testing.T) {
	a, _, _ := testApp(t)
	a.out.tty, a.out.width = true, 80
	says := "files.write_file  root@vm did not approve the call of files.write_file, said so and went to lunch"
	text := a.explainText(account.Diagnosis{Run: "r", RootCause: "x", Evidence: []account.Evidence{{Seq: 26, Type: "approval.denied", Step: "drop", Says: says}}})
	_, evidence, found := strings.Cut(text, "evidence\n")
	require.True(t, found)
	for line := range strings.Lines(evidence) {
		require.LessOrEqual(t, ansi.StringWidth(strings.TrimSuffix(line, "\n")), 80)
	}
	require.Contains(t, strings.Join(strings.Fields(evidence), " "), strings.Join(strings.Fields(says), " "))
}
