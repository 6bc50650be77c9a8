package term

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuard(t *testing.T) {
	bold, reset := "\x1b[1m", "\x1b[0m"
	for in, want := range map[string]string{
		bold + "Error:" + reset + " a\n": bold + "Error:" + reset + " a\n",
		"\x1b[31mred\x1b[2J":             `\x1b[31mred\x1b[2J`,
		"\x1b[1":                         `\x1b[1`,
		"\x1b]52;c;eA==\x07" + bold:      `\x1b]52;c;eA==\x07` + bold,
		"a\rb\b\x7f\u202e\u009bm\xffé":   `a\rb\x08\x7f\u202e\x9bm\xffé`,
		"a\tb\n":                         "a\tb\n",
	} {
		var to bytes.Buffer
		n, err := (&Guard{W: &to, Own: []string{bold, reset, ""}}).Write([]byte(in))
		require.NoError(t, err)
		require.Equal(t, len(in), n)
		require.Equal(t, want, to.String())
	}
	require.Equal(t, bold+`a\nb`, (&Guard{Own: []string{bold}}).Line(bold+"a\nb"))
	require.Equal(t, `\x1b[1ma`, (&Guard{}).Line(bold+"a"), "joy does not colour here")
	_, err := (&Guard{W: broken{}}).Write([]byte("x"))
	require.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errBroken }

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[0m\x7f", "\u009b\u202e\u2028", "\U000e0041", "a\r\n\t", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "\t")
		require.NoError(t, enc.Encode([]string{s}))
		safe := JSON(b.Bytes())
		require.Equal(t, string(safe), Escape(string(safe)))
		var before, after []string
		require.NoError(t, json.Unmarshal(b.Bytes(), &before))
		require.NoError(t, json.Unmarshal(safe, &after))
		require.Equal(t, before, after)
	})
}
