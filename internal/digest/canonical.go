package digest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/fault"
)

// MaxDepth is how many arrays and objects may lie inside each other in canonical JSON.
const MaxDepth = 128

// Canonical marshals v with encoding/json and returns CanonicalJSON of that. Text in v that is not valid UTF-8 is
// U+FFFD by then: who needs it refused passes JSON.
func Canonical(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write canonical JSON: %w", err)
	}
	return CanonicalJSON(raw)
}

// CanonicalJSON rewrites one JSON value in the form of RFC 8785 (https://www.rfc-editor.org/rfc/rfc8785): keys sorted
// by UTF-16 code units, no space between tokens, only '"', '\' and control characters escaped. Equal values have equal
// bytes, and canonical bytes come back unchanged.
//
// A number without fraction or exponent keeps its text ("-0" becomes "0") and must lie within ±(2^53-1). Any other
// number is the nearest IEEE 754 double, written as ECMAScript writes it: 1.0 and 1e0 become 1, 1E21 becomes 1e+21.
//
// Refused, as *fault.Error of kind Input with line and column: malformed or trailing text, invalid UTF-8, lone
// surrogates, a key twice in one object, integers and doubles out of range, more than MaxDepth levels. The caller adds
// the file.
func CanonicalJSON(raw []byte) ([]byte, error) {
	if err := checkText(raw); err != nil {
		return nil, err
	}
	return canonicalize(raw, canonicalNumber)
}

// CanonicalText is CanonicalJSON for what joy did not write and may not change, such as the definition of a server's
// tool: every number keeps the text it came with, of whatever size, so that 1 and 1.0 differ.
func CanonicalText(raw []byte) ([]byte, error) {
	if err := checkText(raw); err != nil {
		return nil, err
	}
	return canonicalize(raw, func(text string) (string, error) { return text, nil })
}

func canonicalize(raw []byte, number func(string) (string, error)) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	c := canonicalizer{raw: raw, dec: dec, number: number, out: make([]byte, 0, len(raw))}
	if err := c.value(0); err != nil {
		return nil, err
	}
	return c.out, nil
}

// checkText refuses what encoding/json would read as something else than was written.
func checkText(raw []byte) error {
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && size == 1 {
			return at(raw, i, "JSON text is not valid UTF-8")
		}
		i += size
	}
	if !json.Valid(raw) {
		return syntaxError(raw)
	}
	return checkSurrogates(raw)
}

func syntaxError(raw []byte) error {
	var into any
	err := json.Unmarshal(raw, &into)
	offset := len(raw)
	if se, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // Unmarshal returns it bare
		offset = int(se.Offset) - 1
	}
	return at(raw, offset, "malformed JSON: %v", err)
}

// checkSurrogates finds a \u escape that is half of a pair. raw is valid JSON, so a backslash is always in a string.
func checkSurrogates(raw []byte) error {
	unit := func(i int) (uint64, bool) {
		if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
			return 0, false
		}
		n, err := strconv.ParseUint(string(raw[i+2:i+6]), 16, 16)
		return n, err == nil
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		n, ok := unit(i)
		if !ok || !utf16.IsSurrogate(rune(n)) {
			i++ // past the escaped character, which may be a backslash
			continue
		}
		low, ok := unit(i + 6)
		if !ok || utf16.DecodeRune(rune(n), rune(low)) == utf8.RuneError {
			return at(raw, i, "JSON string holds half of a surrogate pair")
		}
		i += 11
	}
	return nil
}

type canonicalizer struct {
	raw    []byte
	dec    *json.Decoder
	number func(string) (string, error)
	out    []byte
}

func (c *canonicalizer) value(depth int) error {
	tok, err := c.dec.Token()
	if err != nil {
		return c.fail("malformed JSON: %v", err)
	}
	switch t := tok.(type) {
	case json.Delim:
		if depth == MaxDepth {
			return c.fail("JSON is nested more than %d levels deep", MaxDepth)
		}
		if t == '{' {
			return c.object(depth + 1)
		}
		return c.array(depth + 1)
	case string:
		c.out = appendString(c.out, t)
	case json.Number:
		text, err := c.number(string(t))
		if err != nil {
			return c.fail("%v", err)
		}
		c.out = append(c.out, text...)
	case bool:
		c.out = strconv.AppendBool(c.out, t)
	case nil:
		c.out = append(c.out, "null"...)
	}
	return nil
}

func (c *canonicalizer) array(depth int) error {
	c.out = append(c.out, '[')
	for first := true; c.dec.More(); first = false {
		if !first {
			c.out = append(c.out, ',')
		}
		if err := c.value(depth); err != nil {
			return err
		}
	}
	c.out = append(c.out, ']')
	return c.closing()
}

// object writes members in the order read, remembers where each lies, and puts them in order at the end.
func (c *canonicalizer) object(depth int) error {
	type member struct {
		key   []uint16
		bytes []byte
	}
	var members []member
	seen := map[string]bool{}
	outer := c.out
	for c.dec.More() {
		tok, err := c.dec.Token()
		if err != nil {
			return c.fail("malformed JSON: %v", err)
		}
		key, _ := tok.(string) // a key is a string: json.Valid saw to it
		if seen[key] {
			return c.fail("key %q is there twice in one JSON object", key)
		}
		seen[key] = true
		c.out = append(appendString(nil, key), ':')
		if err := c.value(depth); err != nil {
			return err
		}
		members = append(members, member{utf16.Encode([]rune(key)), c.out})
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.key, b.key) })
	c.out = append(outer, '{')
	for i, m := range members {
		if i > 0 {
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, m.bytes...)
	}
	c.out = append(c.out, '}')
	return c.closing()
}

func (c *canonicalizer) closing() error {
	if _, err := c.dec.Token(); err != nil {
		return c.fail("malformed JSON: %v", err)
	}
	return nil
}

func (c *canonicalizer) fail(format string, args ...any) error {
	return at(c.raw, int(c.dec.InputOffset())-1, format, args...)
}

// at places a fault at a byte offset of raw.
func at(raw []byte, offset int, format string, args ...any) error {
	before := raw[:max(0, min(offset, len(raw)))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	col := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fault.New(fault.Input, format, args...).At("", line, col)
}
