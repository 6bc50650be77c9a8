package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"time"
)

// fields is a line as JSON has it. What JSON cannot tell apart (case and order of keys, duplicates, escapes, spaces)
// is caught by comparing with the canonical form.
type fields struct {
	Seq  json.Number    `json:"seq"`
	Time string         `json:"time"`
	Run  string         `json:"run"`
	Type string         `json:"type"`
	Step string         `json:"step"`
	Data map[string]any `json:"data"`
	Prev string         `json:"prev"`
	Hash string         `json:"hash"`
}

func decode(raw []byte) (Entry, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var f fields
	if err := dec.Decode(&f); err != nil {
		return Entry{}, fmt.Errorf("is no JSON object of an entry: %s", plain(err))
	}
	seq, err := integer(f.Seq)
	if err != nil {
		return Entry{}, fmt.Errorf("has no seq: %w", err)
	}
	at, err := time.Parse(timeLayout, f.Time)
	if err != nil {
		return Entry{}, errors.New("has no time in RFC 3339, UTC, with milliseconds")
	}
	if f.Data == nil {
		return Entry{}, errors.New("has no data")
	}
	if err := settle(f.Data, 0); err != nil {
		return Entry{}, fmt.Errorf("has data that no entry may hold: %w", err)
	}
	return Entry{
		Seq: seq, Time: at, Run: f.Run, Type: f.Type, Step: f.Step,
		Data: f.Data, Prev: f.Prev, Hash: f.Hash,
	}, nil
}

// plain puts the end of the line in words: io errors of the decoder speak of files.
func plain(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends too early"
	}
	return err.Error()
}

func integer(n json.Number) (int64, error) {
	i, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil || i > maxInt || i < -maxInt {
		return 0, fmt.Errorf("%.40q is no integer below 2^53", string(n))
	}
	return i, nil
}

// settle turns the numbers in v into int64, in place, and refuses what entries do not hold.
func settle(v any, depth int) error {
	if depth > MaxDepth {
		return fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if err := settleIn(x, depth, func(n int64) { v[k] = n }); err != nil {
				return err
			}
		}
	case []any:
		for i, x := range v {
			if err := settleIn(x, depth, func(n int64) { v[i] = n }); err != nil {
				return err
			}
		}
	case nil:
		return errors.New("null")
	}
	return nil
}

func settleIn(x any, depth int, set func(int64)) error {
	num, ok := x.(json.Number)
	if !ok {
		return settle(x, depth+1)
	}
	n, err := integer(num)
	if err != nil {
		return err
	}
	if depth+1 > MaxDepth {
		return fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	set(n)
	return nil
}

// appendEntry writes the canonical form of e, with the hash it claims.
func appendEntry(b []byte, e Entry) ([]byte, error) {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, e.Seq, 10)
	b = quoteField(b, "time", e.Time.UTC().Format(timeLayout))
	b = quoteField(b, "run", e.Run)
	b = quoteField(b, "type", e.Type)
	if e.Step != "" {
		b = quoteField(b, "step", e.Step)
	}
	b = append(b, `,"data":`...)
	b, err := appendAny(b, e.Data)
	if err != nil {
		return b, err
	}
	b = quoteField(b, "prev", e.Prev)
	b = quoteField(b, "hash", e.Hash)
	return append(b, '}'), nil
}

func quoteField(b []byte, key, value string) []byte {
	b = append(b, ',')
	b = quote(b, key)
	b = append(b, ':')
	return quote(b, value)
}

func appendAny(b []byte, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case string:
		return quote(b, v), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendAny(b, x); err != nil {
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
			b = append(quote(b, k), ':')
			if b, err = appendAny(b, v[k]); err != nil {
				return b, err
			}
		}
		return append(b, '}'), nil
	}
	return b, fmt.Errorf("a value of type %T", v)
}

// short are the two-character escapes of RFC 8259, section 7, that the ledger uses.
var short = map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// quote writes s as JSON with only the escapes that JSON requires. s is valid UTF-8: it comes from the decoder.
func quote(b []byte, s string) []byte {
	b = append(b, '"')
	plain := 0 // from here on nothing needs an escape
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		plain = i + 1
		if e, ok := short[c]; ok {
			b = append(b, '\\', e)
		} else {
			b = fmt.Appendf(b, `\u%04x`, c)
		}
	}
	b = append(b, s[plain:]...)
	return append(b, '"')
}
