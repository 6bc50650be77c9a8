package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/skill"
)

func TestInvisibleCharacters(t *testing.T) {
	cases := []struct{ name, text, want string }{
		{"zero width space", "a\u200bb", "1 zero width characters (column 2)"},
		{"joiner between letters", "a\u200db\u200d", "2 zero width characters (column 2)"},
		{"word joiner", "\u2060", "1 zero width characters (column 1)"},
		{"mark in the middle", "tea \ufeffcup", "1 zero width characters (column 5)"},
		{"turned around", "if \u202ecup", "1 characters that turn the direction"},
		{"tags", "tea\U000e0068\U000e0069", `2 tag characters, which spell text that nobody sees: "hi" (column 4)`},
		{"tags after the flag ended", "\U0001f3f4 \U000e0068", `1 tag characters`},
		{"selectors in a row", "x\ufe0f\ufe0f", "1 variation selectors in a row"},

		{"family", "👨\u200d👩\u200d👧 and 🏳\ufe0f\u200d🌈", ""},
		{"skin tone", "🧑🏽\u200d💻 ❤\ufe0f\u200d🔥", ""},
		{"flag of a region", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", ""},
		{"Persian", "می\u200cخواهم", ""},
		{"Hindi", "क्\u200dष", ""},
		{"byte order mark", "\ufefftea", ""},
		{"other writing", "茶 чай café — “tea” …", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []skill.Finding
			for _, f := range load(t, bundleFS("SKILL.md", skillMD("", ""), "tea.txt", c.text)).Findings {
				if f.Rule == skill.RuleInvisible {
					got = append(got, f)
				}
			}
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			require.Equal(t, skill.SeverityWarning, got[0].Severity)
			require.Equal(t, 1, got[0].Line)
			require.Contains(t, got[0].Message, c.want)
		})
	}
}
