package digest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/digest"
)

func TestLineEndRule(t *testing.T) {
	cases := []struct{ name, disk, want string }{
		{"every line CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"last line without an end", "a\r\nb", "a\nb"},
		{"byte order mark", "\xef\xbb\xbfa\r\n", "\xef\xbb\xbfa\n"},
		{"no line end", "a", "a"},
		{"LF already", "a\nb\n", "a\nb\n"},
		{"mixed, LF first", "a\nb\r\n", "a\nb\r\n"},
		{"mixed, LF last", "a\r\nb\n", "a\r\nb\n"},
		{"a lone CR", "a\rb\r\n", "a\rb\r\n"},
		{"CR CR LF", "a\r\r\n", "a\r\r\n"},
		{"CR at the end", "a\r\nb\r", "a\r\nb\r"},
		{"NUL", "a\x00\r\n", "a\x00\r\n"},
		{"Latin-1", "caf\xe9\r\n", "caf\xe9\r\n"},
		{"PDF", "%PDF-1.7\r\n", "%PDF-1.7\r\n"},
		{"PNG", "\x89PNG\r\n\x1a\n", "\x89PNG\r\n\x1a\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := digest.Pin("f", digest.ModePlain, []byte(c.disk), false)
			require.Equal(t, c.want, string(got.Data))
			require.Equal(t, c.want != c.disk, got.Converted)
			require.Equal(t, int64(len(c.want)), got.File.Size)
			require.Equal(t, digest.Bytes(got.Data), "sha256:"+got.File.SHA256)

			raw := digest.Pin("f", digest.ModePlain, []byte(c.disk), true)
			require.Equal(t, c.disk, string(raw.Data))
			require.False(t, raw.Converted)

			again := digest.Pin("f", digest.ModePlain, got.Data, false)
			require.Equal(t, got.File, again.File, "the rule applied twice changes nothing")
		})
	}
}

func TestFileMatchesEitherLineEnd(t *testing.T) {
	lf := digest.Pin("f", digest.ModePlain, []byte("a\nb\n"), false).File
	for _, disk := range []string{"a\nb\n", "a\r\nb\r\n"} {
		data, ok := lf.Match([]byte(disk))
		require.True(t, ok)
		require.Equal(t, "a\nb\n", string(data))
	}
	for _, disk := range []string{"a\r\nb\n", "a\nb", "a\nb\n\n", ""} {
		_, ok := lf.Match([]byte(disk))
		require.False(t, ok, "%q", disk)
	}
	kept := digest.Pin("f", digest.ModePlain, []byte("a\r\n"), true).File
	_, ok := kept.Match([]byte("a\n"))
	require.False(t, ok, "an exempt file is pinned with its CRLF")
}

func TestGlobs(t *testing.T) {
	cases := []struct {
		list, path string
		want       bool
	}{
		{"*.bat", "run.bat", true},
		{"*.bat", "deep/er/run.bat", true},
		{"*.bat", "run.bat.txt", false},
		{"win/*.bat", "win/run.bat", true},
		{"win/*.bat", "other/win/run.bat", false},
		{"win/*.bat", "win/deep/run.bat", false},
		{"win/**", "win/deep/run.bat", true},
		{"**/x/*", "a/b/x/c", true},
		{"**/x/*", "x/c", true},
		{"**/x/*", "a/x/b/c", false},
		{"a.txt, *.eml\n*.ics", "mail/x.eml", true},
		{"", "a", false},
		{"**/**/**/**/**/**/**/**/**/**/**/**/z", "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", false},
	}
	for _, c := range cases {
		g, err := digest.ParseGlobs(c.list)
		require.NoError(t, err)
		require.Equal(t, c.want, g.Match(c.path), "%q against %q", c.list, c.path)
	}
	_, err := digest.ParseGlobs("*.bat, [a")
	require.ErrorContains(t, err, `"[a"`)
}
