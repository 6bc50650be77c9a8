package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"time"
)

// Canonical is the second opinion on what one line may be: read by encoding/json and written again. What it writes
// equals the line exactly when the line is an entry in canonical form.
func Canonical(raw []byte) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var f struct {
		Seq  json.Number    `json:"seq"`
		Time string         `json:"time"`
		Run  string         `json:"run"`
		Type string         `json:"type"`
		Step string         `json:"step"`
		Data map[string]any `json:"data"`
		Prev string         `json:"prev"`
		Hash string         `json:"hash"`
	}
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	at, err := time.Parse(timeLayout, f.Time)
	if err != nil || f.Data == nil {
		return nil, errors.New("no time, or no data")
	}
	b, err := appendAny([]byte(`{"seq":`), f.Seq, 0)
	if err != nil {
		return nil, err
	}
	for _, m := range [][2]string{{"time", at.UTC().Format(timeLayout)}, {"run", f.Run}, {"type", f.Type}, {"step", f.Step}} {
		if m[0] != "step" || m[1] != "" {
			b = quote(append(quote(append(b, ','), m[0]), ':'), m[1])
		}
	}
	if b, err = appendAny(append(b, `,"data":`...), f.Data, 0); err != nil {
		return nil, err
	}
	b = quote(append(b, `,"prev":`...), f.Prev)
	return append(quote(append(b, `,"hash":`...), f.Hash), '}'), nil
}

func appendAny(b []byte, v any, depth int) (_ []byte, err error) {
	if depth > MaxDepth {
		return b, errors.New("too deep")
	}
	switch v := v.(type) {
	case string:
		return quote(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case json.Number:
		n, err := strconv.ParseInt(string(v), 10, 64)
		if err != nil || n > maxInt || n < -maxInt {
			return b, errors.New("no integer below 2^53")
		}
		return strconv.AppendInt(b, n, 10), nil
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendAny(b, x, depth+1); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendAny(append(quote(b, k), ':'), v[k], depth+1); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
	return b, fmt.Errorf("a value of type %T", v)
}

// quote writes s with only the escapes that JSON requires.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	for i := range len(s) {
		c := s[i]
		short := bytes.IndexByte([]byte("\"\\\b\t\n\f\r"), c)
		switch {
		case short >= 0:
			b = append(b, '\\', `"\btnfr`[short])
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
