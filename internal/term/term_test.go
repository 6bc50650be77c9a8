package term

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestColor(t *testing.T) {
	for name, c := range map[string]struct {
		mode string
		env  map[string]string
		want bool
	}{
		"not a terminal":             {"auto", nil, false},
		"NO_COLOR wins over always":  {"always", map[string]string{"NO_COLOR": "0"}, false},
		"NO_COLOR wins over force":   {"auto", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, false},
		"never wins over force":      {"never", map[string]string{"FORCE_COLOR": "1"}, false},
		"a force of 0 is none":       {"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false},
		"an empty NO_COLOR is unset": {"always", map[string]string{"NO_COLOR": ""}, true},
		"always":                     {"always", map[string]string{"TERM": "dumb"}, true},
		"CLICOLOR_FORCE":             {"auto", map[string]string{"CLICOLOR_FORCE": "1"}, true},
		"FORCE_COLOR":                {"auto", map[string]string{"FORCE_COLOR": "3"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			lookup := func(key string) (string, bool) { v, ok := c.env[key]; return v, ok }
			require.Equal(t, c.want, Color(&bytes.Buffer{}, c.mode, lookup))
		})
	}
}

func TestWidthOfNoTerminal(t *testing.T) {
	require.Equal(t, DefaultWidth, Width(&bytes.Buffer{}))
	require.False(t, IsTerminal(&bytes.Buffer{}))
}

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b]0;owned\a\x1b[2J":   `\x1b]0;owned\x07\x1b[2J`,
		"\u009b31m":               `\x9b31m`,
		"abc\u202etxt.exe":        `abc\u202etxt.exe`,
		"a\u200bb\ufeffc":         `a\u200bb\ufeffc`,
		"tag \U000e0041":          `tag \U000e0041`,
		"over\rwritten":           `over\rwritten`,
		"raw \xff\xc3":            `raw \xff\xc3`,
		"\x7f\x00":                `\x7f\x00`,
		"line\u2028separator":     `line\u2028separator`,
		"two\nlines\tand a tab":   "two\nlines\tand a tab",
		"grüße, 日本語 and \ufffd 👩": "grüße, 日本語 and \ufffd 👩",
		`C:\new`:                  `C:\new`,
		"":                        "",
	} {
		require.Equal(t, want, Escape(in))
	}
	require.Equal(t, `two\nlines\tand a tab`, Line("two\nlines\tand a tab"))
}

func FuzzEscape(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[0m", "\xff", "\u202e", "a\nb", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := Line(s)
		require.True(t, utf8.ValidString(line))
		for _, r := range line {
			require.False(t, hidden(r), "%q leaves %U", s, r)
		}
		require.Equal(t, line, Line(line), "escaping twice changes nothing")
	})
}
