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

// TestWrappedCells holds that a reason is not cut off on a terminal, and not broken up in a pipe.
func TestWrappedCells(t *testing.T) {
	a, stdout, _ := testApp(t)
	why := "the model has given no answer in 8 turns"
	show := func(width int, text string) string {
		stdout.Reset()
		a.out.tty, a.out.width = width > 0, width
		tab := a.out.newTable("STEP", "")
		tab.row(cell{text: "work", style: &a.out.fail}, cell{text: text, wraps: true})
		tab.row(plain("work", text)...)
		require.NoError(t, tab.print())
		return strings.TrimPrefix(stdout.String(), "STEP\n")
	}
	require.Equal(t, "work  "+why+"\nwork  "+why+"\n", show(0, why))
	require.Equal(t, "work  "+why+"\nwork  "+why+"\n", show(80, why))
	require.Equal(t, "work  the model has given no\n      answer in 8 turns\nwork  the model has given no an…\n", show(32, why))
	require.Equal(t, "work  the model has g…\nwork  the model has g…\n", show(22, why), "there is no room to wrap")
	long := show(32, strings.Repeat("x", 300))
	require.Equal(t, wrapLines+1, strings.Count(long, "\n"))
	require.Contains(t, long, "      "+strings.Repeat("x", 25)+"…\n")
}

func TestTable(t *testing.T) {
	a, stdout, _ := testApp(t)
	fill := func(u *ui) *table {
		tab := u.newTable("STEP", "WHAT")
		tab.row(plain("日本", "wide runes count two columns each")...)
		tab.row(cell{text: "hostile\x1b[2J", style: &u.fail}, cell{text: "two\nlines", style: nil})
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
