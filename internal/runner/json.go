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
	var open []level
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return "", false
		}
		var in *level
		if len(open) > 0 {
			in = &open[len(open)-1]
		}
		delim, _ := tok.(json.Delim)
		switch {
		case delim == '}' || delim == ']':
			open = open[:len(open)-1]
			continue
		case in != nil && in.key:
			name, _ := tok.(string)
			if in.keys[name] {
				return name, true
			}
			in.keys[name], in.key = true, false
			continue
		case in != nil:
			in.key = in.keys != nil
		}
		switch delim {
		case '{':
			open = append(open, level{keys: map[string]bool{}, key: true})
		case '[':
			open = append(open, level{})
		}
	}
}
