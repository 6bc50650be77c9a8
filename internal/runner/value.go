package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/schema"
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

// unmarshal reads one JSON value and keeps the spelling of its numbers.
func unmarshal(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the JSON value")
	}
	return v, nil
}

// symbolic says whether a value, or a part of it, is not known.
func symbolic(v any) bool {
	switch t := v.(type) {
	case plan.Symbol:
		return true
	case []any:
		for _, e := range t {
			if symbolic(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range t {
			if symbolic(e) {
				return true
			}
		}
	}
	return false
}

// checkSchema holds a value to a schema of the bundle. What is not known cannot be checked.
func checkSchema(raw json.RawMessage, v any, what string) error {
	if len(raw) == 0 || symbolic(v) {
		return nil
	}
	s, err := schema.Compile(raw)
	if err != nil {
		return fmt.Errorf("the schema of %s: %w", what, err)
	}
	body, err := marshal(v)
	if err != nil {
		return err
	}
	if err := s.Check(body); err != nil {
		return fmt.Errorf("%s does not match the skill's schema: %w", what, err)
	}
	return nil
}

// keepJSON stores a value and returns its size and digest.
func (r *run) keepJSON(v any) (int, string, error) {
	body, err := marshal(v)
	if err != nil {
		return 0, "", err
	}
	if r.Objects != nil {
		_, err = r.Objects.PutBytes(body)
	}
	return len(body), digest.Bytes(body), err
}

// text makes a string for the ledger of words that may hold anything.
func (r *run) text(s string) string {
	const most = 8 << 10
	b := []byte(s)
	if r.Secrets != nil {
		b, _ = r.Secrets.Redact(b)
	}
	if len(b) > most {
		b = append(bytes.Clone(b[:most]), " …"...)
	}
	out, _ := ledger.Text(b)
	return out
}
