package secret_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/secret"
)

const nasty = `p@ss w0rd/<"it's">&+é\n`

func utf16Bytes(s string, little bool) string {
	var b []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if little {
			b = append(b, byte(u), byte(u>>8))
		} else {
			b = append(b, byte(u>>8), byte(u))
		}
	}
	return string(b)
}

func reverse(s string) string {
	b := []byte(s)
	for i := range len(b) / 2 {
		b[i], b[len(b)-1-i] = b[len(b)-1-i], b[i]
	}
	return string(b)
}

func eachByte(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func marshal(t *testing.T, s string, escapeHTML bool) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	require.NoError(t, enc.Encode(s))
	return strings.Trim(b.String(), "\"\n")
}

// Every way that programs print a value hides it whole.
func TestForms(t *testing.T) {
	s := set(t, "db", nasty)
	for _, c := range []struct {
		form secret.Form
		text string
	}{
		{secret.Raw, nasty},
		{secret.Base32, base32.StdEncoding.EncodeToString([]byte(nasty))[:len(nasty)*8/5]},
		{secret.Base32, strings.ToLower(base32.StdEncoding.EncodeToString([]byte(nasty)))[:len(nasty)*8/5]},
		{secret.Hex, hex.EncodeToString([]byte(nasty))},
		{secret.Hex, strings.ToUpper(hex.EncodeToString([]byte(nasty)))},
		{secret.Percent, url.QueryEscape(nasty)},
		{secret.Percent, url.PathEscape(nasty)},
		{secret.Percent, strings.ReplaceAll(url.QueryEscape(nasty), "+", "%20")},
		{secret.Percent, `p%40ss%20w0rd%2F%3C%22it's%22%3E%26%2B%C3%A9%5Cn`}, // encodeURIComponent
		{secret.Percent, `p%40ss%20w0rd/%3C%22it%27s%22%3E%26%2B%C3%A9%5Cn`}, // Python's quote
		{secret.Percent, `p%40ss%20w0rd%2f%3c%22it%27s%22%3e%26%2b%c3%a9%5cn`},
		{secret.Percent, eachByte("%%%02X", nasty)},
		{secret.Percent, eachByte("%%%02x", nasty)},
		{secret.Escaped, eachByte(`\x%02x`, nasty)},
		{secret.Escaped, eachByte(`\x%02X`, nasty)},
		{secret.JSON, marshal(t, nasty, false)},
		{secret.JSON, marshal(t, nasty, true)},
		{secret.JSON, strings.ReplaceAll(marshal(t, nasty, false), "/", `\/`)},
		{secret.JSON, `p@ss w0rd/<\"it's\">&+\u00e9\\n`},  // Python's json
		{secret.JSON, `p@ss w0rd\/<\"it's\">&+\u00e9\\n`}, // PHP's json_encode
		{secret.HTML, html.EscapeString(nasty)},
		{secret.HTML, `p@ss w0rd/&lt;&quot;it&#x27;s&quot;&gt;&amp;+é\n`}, // Python's html.escape
		{secret.HTML, `p@ss w0rd/&lt;&quot;it&#039;s&quot;&gt;&amp;+é\n`}, // PHP's htmlspecialchars
		{secret.HTML, `p@ss w0rd/&lt;"it's"&gt;&amp;+é\n`},                // text of an element
		{secret.Shell, `p@ss w0rd/<"it'\''s">&+é\n`},
		{secret.Shell, `p@ss w0rd/<"it'"'"'s">&+é\n`},
		{secret.UTF16LE, utf16Bytes(nasty, true)},
		{secret.UTF16BE, utf16Bytes(nasty, false)},
		{secret.Reversed, reverse(nasty)},
	} {
		t.Run(string(c.form)+" "+c.text, func(t *testing.T) {
			out, hits := s.Redact([]byte("<" + c.text + ">"))
			require.Equal(t, "<[REDACTED:db]>", string(out))
			require.Equal(t, []secret.Hit{{Name: "db", Form: c.form, Offset: 1, Len: len(c.text)}}, hits)
		})
	}
}

// Amid other bytes base64 looks different at each of three places; at most two characters at each end remain, which
// the neighbours share.
func TestBase64AtEveryAlignment(t *testing.T) {
	for _, value := range []string{"hunter2hunter2", "hunter2hunter2!", "hunter2hunter2??", "\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe"} {
		s := set(t, "db", value)
		for name, enc := range map[string]*base64.Encoding{"std": base64.StdEncoding, "url": base64.URLEncoding, "raw": base64.RawStdEncoding} {
			for before := range 7 {
				for after := range 4 {
					text := enc.EncodeToString([]byte(strings.Repeat("u", before) + value + strings.Repeat("z", after)))
					out, hits := s.Redact([]byte(text))
					require.Len(t, hits, 1, "%s, %d before", name, before)
					require.Equal(t, secret.Base64, hits[0].Form)
					first, end := before*8/6, ((before+len(value))*8+5)/6
					require.LessOrEqual(t, hits[0].Offset, int64(first+1))
					require.GreaterOrEqual(t, hits[0].Offset+int64(hits[0].Len), int64(end-1))
					require.Contains(t, string(out), "[REDACTED:db]")
				}
			}
		}
	}
}

func TestLinesOfALongValue(t *testing.T) {
	pem := "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v\nVpguoRK9JLsLMREScVpezJpGXA7r\nshort\n-----END PRIVATE KEY-----\n"
	for name, value := range map[string]string{
		"pem":      pem,
		"crlf":     strings.ReplaceAll(pem, "\n", "\r\n"),
		"key file": `{"type": "x", "private_key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := set(t, "key", value)
			for text, want := range map[string]string{
				"MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v":                     "[REDACTED:key]",
				"> VpguoRK9JLsLMREScVpezJpGXA7r <":                 "> [REDACTED:key] <",
				"-----BEGIN PRIVATE KEY-----":                      "-----BEGIN PRIVATE KEY-----",
				"-----END PRIVATE KEY-----":                        "-----END PRIVATE KEY-----",
				"short":                                            "short",
				"MC4CAQAwBQYDK2VwBCIEIJ1hsZ3":                      "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3",
				"a VpguoRK9JLsLMREScVpezJpGXA7r\n  | shor\n | tly": "a [REDACTED:key]\n  | shor\n | tly",
			} {
				require.Equal(t, want, redact(s, text))
			}
			out, hits := s.Redact([]byte("x" + strings.TrimSpace(value) + "x"))
			require.Equal(t, "x[REDACTED:key]x", string(out))
			require.Len(t, hits, 1)
		})
	}
}
