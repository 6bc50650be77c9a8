package ledger

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Data is the body of an entry. Its values are string, bool, int, int64, json.Number (an integer), []string, []any,
// map[string]any and Data; anything else, a float or nil among them, is an error.
type Data map[string]any

// Text makes a string that an entry may hold from bytes that a stranger wrote: each run of bytes that is not valid
// UTF-8 becomes one U+FFFD, and invalid says so. The caller then records the digest of the bytes themselves.
// Bytes must be whole: cut a stream between characters first, or a character that was split is lost.
func Text(b []byte) (s string, invalid bool) {
	s = string(b)
	if utf8.ValidString(s) {
		return s, false
	}
	return strings.ToValidUTF8(s, "\uFFFD"), true
}

// line is what appendLine needs besides the encoded data.
type line struct {
	seq  int64
	at   time.Time
	run  string
	typ  Type
	step string
	data []byte // canonical JSON object
	prev string
}

// append writes the whole line, newline included, and returns its hash.
func (l line) append(dst []byte) (out []byte, hash string, err error) {
	start := len(dst)
	dst = strconv.AppendInt(append(dst, `{"seq":`...), l.seq, 10)
	dst = l.at.AppendFormat(append(dst, `,"time":"`...), timeLayout)
	dst = append(append(dst, `","run":"`...), l.run...)
	dst = append(append(dst, `","type":"`...), l.typ...)
	dst = append(dst, '"')
	if l.step != "" {
		if dst, err = appendString(append(dst, `,"step":`...), l.step); err != nil {
			return dst, "", fmt.Errorf("step: %w", err)
		}
	}
	dst = append(append(dst, `,"data":`...), l.data...)
	dst = append(append(dst, `,"prev":"`...), l.prev...)
	dst = append(dst, '"')
	hash = digestOf(dst[start:])
	dst = append(append(dst, `,"hash":"`...), hash...)
	return append(dst, "\"}\n"...), hash, nil
}

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func appendValue(dst []byte, v any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return dst, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch v := v.(type) {
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return appendInt(dst, int64(v))
	case int64:
		return appendInt(dst, v)
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil {
			return dst, fmt.Errorf("%q is no integer", string(v))
		}
		return appendInt(dst, n)
	case []string:
		return appendList(dst, v, depth)
	case []any:
		return appendList(dst, v, depth)
	case map[string]any:
		return appendObject(dst, v, depth)
	case Data:
		return appendObject(dst, v, depth)
	}
	return dst, fmt.Errorf("a %T cannot be recorded", v)
}

func appendInt(dst []byte, n int64) ([]byte, error) {
	if n > MaxInt || n < -MaxInt {
		return dst, fmt.Errorf("%d is beyond 2^53-1: record it as a string", n)
	}
	return strconv.AppendInt(dst, n, 10), nil
}

func appendList[T any](dst []byte, list []T, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, v, depth+1); err != nil {
			return dst, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst []byte, m map[string]any, depth int) ([]byte, error) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendString(dst, k); err != nil {
			return dst, fmt.Errorf("key %q: %w", k, err)
		}
		if dst, err = appendValue(append(dst, ':'), m[k], depth+1); err != nil {
			return dst, fmt.Errorf("%s: %w", k, err)
		}
	}
	return append(dst, '}'), nil
}

const hexDigits = "0123456789abcdef"

func appendString(dst []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return dst, fmt.Errorf("not valid UTF-8: pass it through ledger.Text")
	}
	dst = append(dst, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(append(dst, s[from:i]...), '\\')
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, c)
		case '\b':
			dst = append(dst, 'b')
		case '\t':
			dst = append(dst, 't')
		case '\n':
			dst = append(dst, 'n')
		case '\f':
			dst = append(dst, 'f')
		case '\r':
			dst = append(dst, 'r')
		default:
			dst = append(dst, 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"'), nil
}
