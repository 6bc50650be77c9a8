package secret

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	lower = "0123456789abcdef"
	upper = "0123456789ABCDEF"
)

// unreserved are the marks that no encoder escapes (RFC 3986, section 2.3).
const unreserved = "-_.~"

// percentForms writes the value as encoders of components (JavaScript keeps !'()*), of paths (Python keeps /, Go
// $&+:=@, JavaScript's encodeURI all that may stand in a URL) and of forms (a space is +) do, and with every byte
// escaped.
func percentForms(value []byte) (list [][]byte) {
	for _, digits := range []string{upper, lower} {
		component := percent(value, unreserved, digits)
		list = append(list,
			component,
			percent(value, unreserved+"!'()*", digits),
			percent(value, unreserved+"/", digits),
			percent(value, unreserved+"$&+:=@", digits),
			percent(value, unreserved+"$&+:=@/!'()*,;?#", digits),
			bytes.ReplaceAll(component, []byte("%20"), []byte("+")),
			eachByte(value, "%", digits),
		)
	}
	return list
}

// percent escapes every byte but ASCII letters, digits and those in keep.
func percent(value []byte, keep, digits string) []byte {
	var out []byte
	for _, c := range value {
		alnum := c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if alnum || strings.IndexByte(keep, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return out
}

// eachByte writes every byte as two digits behind a prefix.
func eachByte(value []byte, prefix, digits string) []byte {
	var out []byte
	for _, c := range value {
		out = append(append(out, prefix...), digits[c>>4], digits[c&15])
	}
	return out
}

// jsonForms writes the value as it stands inside a JSON string: with the escapes that JSON requires, with those of
// encoders that mind HTML (Go) or slashes (PHP), and with everything beyond ASCII escaped (Python).
func jsonForms(value []byte) [][]byte {
	if !utf8.Valid(value) {
		return nil
	}
	plain := jsonText(string(value), "", false)
	return [][]byte{
		plain,
		jsonText(string(value), "<>&", false),
		bytes.ReplaceAll(plain, []byte("/"), []byte(`\/`)),
		jsonText(string(value), "", true),
		bytes.ReplaceAll(jsonText(string(value), "", true), []byte("/"), []byte(`\/`)),
	}
}

// jsonText escapes what JSON requires, every rune in also, and, with ascii, every rune beyond ASCII.
func jsonText(s, also string, ascii bool) []byte {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	var out []byte
	for _, r := range s {
		esc, ok := short[r]
		switch {
		case ok:
			out = append(out, esc...)
		case r < ' ' || strings.ContainsRune(also, r) || ascii && r > '~' && r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		case ascii && r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
