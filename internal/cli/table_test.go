package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLongTable holds that a table of any length is held in part, and that its columns do not shrink on the way.
func TestLongTable(t *testing.T) {
	a, stdout, _ := testApp(t)
	tab := a.out.newTable("STEP", "WHAT")
	for i := range 3 * partRows {
		step := "a"
		if i == partRows+1 {
			step = "a-longer-name"
		}
		tab.row(plain(step, "x")...)
		if tab.full() {
			require.NoError(t, tab.print())
			require.Empty(t, tab.rows)
		}
	}
	require.NoError(t, tab.print())
	lines := strings.Split(stdout.String(), "\n")
	require.Len(t, lines, 3*partRows+2)
	require.Equal(t, "a     x", lines[1])
	require.Equal(t, "a-longer-name  x", lines[partRows+2])
	require.Equal(t, "a              x", lines[3*partRows])
	tab.row(plain("a", strings.Repeat("x", partBytes))...)
	require.True(t, tab.full())
}

func TestTable(t *testing.T) {
	a, stdout, _ := testApp(t)
	fill := func(u *ui) *table {
		tab := u.newTable("STEP", "WHAT")
		tab.row(plain("日本", "wide runes count two columns each")...)
		tab.row(cell{"hostile\x1b[2J", &u.fail}, cell{"two\nlines", nil})
		tab.row(plain("short")...)
		return tab
	}
	require.NoError(t, fill(a.out).print())
	require.Equal(t, strings.Join([]string{
		`STEP            WHAT`,
		`日本            wide runes count two columns each`,
		`hostile\x1b[2J  two\nlines`,
		`short`,
	}, "\n")+"\n", stdout.String())

	stdout.Reset()
	a.out.tty, a.out.width = true, 24
	require.NoError(t, fill(a.out).print())
	require.Contains(t, stdout.String(), "日本            wide ru…\n")
}
