package artifact

import (
	"io/fs"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestSafePath(t *testing.T) {
	for name, want := range map[string]string{
		"report.html":         "report.html",
		"sub/dir/é 1.pdf":     "sub/dir/é 1.pdf",
		"100%.txt":            "100%.txt",
		".hidden":             ".hidden",
		"..":                  ".%2E",
		"../../etc/passwd":    ".%2E/.%2E/etc/passwd",
		"/etc/passwd":         "_/etc/passwd",
		"":                    "_",
		"a//b":                "a/_/b",
		`..\..\x`:             "..%5C..%5Cx",
		`C:\x`:                "C%3A%5Cx",
		"a:stream":            "a%3Astream",
		"con":                 "%63on",
		"NUL.txt":             "%4EUL.txt",
		"a/com1 .x":           "a/%63om1 .x",
		"COM¹":                "%43OM¹",
		"console":             "console",
		"dot.":                "dot%2E",
		"space ":              "space%20",
		"what?*<>|\"":         "what%3F%2A%3C%3E%7C%22",
		"-rf":                 "%2Drf",
		"x/.GIT/config":       "x/%2EGIT/config",
		"git~1/config":        "%67it~1/config",
		".gi\u200ct/config":   ".gi%E2%80%8Ct/config",
		"\x1b[2J":             "%1B[2J",
		"a\nb\x7f\u009b":      "a%0Ab%7F%C2%9B",
		"abc\u202etxt.exe":    "abc%E2%80%AEtxt.exe",
		"\xff\xfe":            "%FF%FE",
		"a\x00b":              "a%00b",
		"line\u2028separator": "line%E2%80%A8separator",
	} {
		require.Equal(t, want, SafePath(name), "%q", name)
	}
}

func FuzzSafePath(f *testing.F) {
	for _, seed := range []string{"a/b", "..", "CON", `C:\x`, "\xff", "-", ".git", "%2E", "a. ", "\u202e"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		path := SafePath(name)
		require.True(t, fs.ValidPath(path), path)
		require.NotEqual(t, ".", path)
		require.True(t, utf8.ValidString(path))
		require.Equal(t, path, SafePath(path), "once is enough")
	})
}
