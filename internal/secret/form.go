package secret

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Form names how a value was written where it was found.
type Form string

// The forms a Set looks for. Values are taken without white space at their ends.
const (
	Raw      Form = "raw"
	Line     Form = "line"     // one line of a value of several, PEM's frame excepted
	Base64   Form = "base64"   // standard or URL alphabet, alone or amid other bytes: three alignments
	Base32   Form = "base32"   // RFC 4648, either case
	Hex      Form = "hex"      // either case
	Percent  Form = "percent"  // as in a URL's path or query, or every byte; either case
	Escaped  Form = "escaped"  // \xNN for every byte, either case
	JSON     Form = "json"     // inside a string, with the escapes of common encoders
	HTML     Form = "html"     // with the entities of common encoders
	Shell    Form = "shell"    // inside single quotes
	UTF16LE  Form = "utf-16le" // without a byte order mark
	UTF16BE  Form = "utf-16be"
	Reversed Form = "reversed"
)

// Rule is the form of what no Set was told: a rule found it.
const Rule Form = "rule"

// minLine is the shortest line of a value of several lines that is looked for by itself. Shorter ones are as likely
// to be plain text.
const minLine = 16

// needle is one run of bytes that betrays a value.
type needle struct {
	bytes []byte
	name  string
	form  Form
}

// forms lists every needle of a value: each byte string once, the likelier form first, none below window bytes.
func forms(name string, value []byte) []needle {
	var list []needle
	add := func(form Form, needles ...[]byte) {
		for _, b := range needles {
			known := slices.ContainsFunc(list, func(n needle) bool { return bytes.Equal(n.bytes, b) })
			if len(b) >= window && !known {
				list = append(list, needle{b, name, form})
			}
		}
	}
	add(Raw, value)
	add(Line, longLines(value)...)
	add(Base64, base64Forms(value)...)
	b32 := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(value)
	b32 = b32[:len(value)*8/5] // the last character depends on what follows
	add(Base32, []byte(b32), []byte(strings.ToLower(b32)))
	h := []byte(hex.EncodeToString(value))
	add(Hex, h, bytes.ToUpper(h))
	add(Percent, percentForms(value)...)
	add(Escaped, eachByte(value, `\x`, lower), eachByte(value, `\x`, upper))
	add(JSON, jsonForms(value)...)
	add(HTML, htmlForms(string(value))...)
	add(Shell, bytes.ReplaceAll(value, []byte(`'`), []byte(`'\''`)), bytes.ReplaceAll(value, []byte(`'`), []byte(`'"'"'`)))
	if utf8.Valid(value) {
		le, be := utf16Forms(string(value))
		add(UTF16LE, le)
		add(UTF16BE, be)
	}
	back := bytes.Clone(value)
	slices.Reverse(back)
	add(Reversed, back)
	return list
}

// longLines gives the lines of a value that has several, also where "\n" was written as two characters, as in a
// service account's key file.
func longLines(value []byte) (lines [][]byte) {
	text := strings.ReplaceAll(string(value), `\n`, "\n")
	if !strings.Contains(text, "\n") {
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.Trim(l, " \t\r\",")
		frame := strings.HasPrefix(l, "-----") && strings.HasSuffix(l, "-----")
		if len(l) >= minLine && !frame {
			lines = append(lines, []byte(l))
		}
	}
	return lines
}

// base64Forms encodes the value behind 0, 1 and 2 other bytes and cuts off the characters that those share with it.
func base64Forms(value []byte) (list [][]byte) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			text := enc.EncodeToString(append(make([]byte, before), value...))
			first, end := (before*8+5)/6, (before+len(value))*8/6
			list = append(list, []byte(text[first:end]))
		}
	}
	return list
}

// htmlForms has the entities of Go and Python, of PHP, and of XML writers.
func htmlForms(value string) [][]byte {
	return [][]byte{
		[]byte(html.EscapeString(value)),
		[]byte(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#x27;").Replace(value)),
		[]byte(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#039;").Replace(value)),
		[]byte(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(value)),
		[]byte(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(value)),
	}
}

func utf16Forms(value string) (le, be []byte) {
	for _, u := range utf16.Encode([]rune(value)) {
		le = append(le, byte(u), byte(u>>8))
		be = append(be, byte(u>>8), byte(u))
	}
	return le, be
}
