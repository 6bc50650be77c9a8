package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger/account"
)

// TestDiffFitsTheTerminal holds that two values which do not fit one line are set below each other, so that what differs is seen.
func TestDiffFitsTheTerminal(t *testing.T) {
	a, _, _ := testApp(t)
	d := account.Difference{What: "call", Name: "1", In: "both", A: strings.Repeat("a", 40), B: strings.Repeat("b", 40)}
	line := func(tty bool, width int) string {
		a.out.tty, a.out.width = tty, width
		var b strings.Builder
		a.runDiffLine(&b, d)
		return b.String()
	}
	one := "  ~ call 1  " + d.A + " → " + d.B + "\n"
	two := "  ~ call 1\n      A " + d.A + "\n      B " + d.B + "\n"
	require.Equal(t, two, line(true, 80))
	require.Equal(t, one, line(true, 160))
	require.Equal(t, one, line(false, 80))
}
