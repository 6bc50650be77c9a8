package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// marshal is compact JSON that spells < and > as they are; raw JSON stays as it is.
func marshal(v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return raw, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// unmarshal reads one JSON value and keeps the spelling of its numbers. It refuses what two readers may understand
// differently: bytes that are not UTF-8, and a key that is there twice in one object (RFC 8259, sections 8.1 and 4).
func unmarshal(raw []byte) (any, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the JSON value")
	}
	if key, twice := doubled(raw); twice {
		return nil, fmt.Errorf("the key %s is there twice", quoted([]byte(key)))
	}
	return v, nil
}

// doubled finds a key that one object of raw, which is valid JSON, has twice. It keeps its own stack: the depth is a
// stranger's choice.
func doubled(raw []byte) (key string, twice bool) {
	type level struct {
		keys map[string]bool // nil: a list
		key  bool            // a key is next
	}
	open := []level{{}}
	for i := 0; i < len(raw); i++ {
		in := &open[len(open)-1]
		switch raw[i] {
		case '{':
			open = append(open, level{keys: map[string]bool{}, key: true})
		case '[':
			open = append(open, level{})
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			in.key = in.keys != nil
		case '"':
			end := stringEnd(raw, i)
			if in.key {
				name := stringText(raw[i:end])
				if in.keys[name] {
					return name, true
				}
				in.keys[name], in.key = true, false
			}
			i = end - 1
		}
	}
	return "", false
}

// stringEnd is behind the quote that closes the string at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// stringText is what a string of valid JSON says.
func stringText(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var s string
	_ = json.Unmarshal(quoted, &s) // valid, as all of it
	return s
}
