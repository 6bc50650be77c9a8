package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
