package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/schema"
)

// opaque says whether a value, or a part of it, is not known, or stands for the bytes of a file.
func opaque(v any) bool {
	switch t := v.(type) {
	case plan.Symbol, plan.ArtifactRef, fileRef:
		return true
	case []any:
		return slices.ContainsFunc(t, opaque)
	case map[string]any:
		for _, e := range t {
			if opaque(e) {
				return true
			}
		}
	}
	return false
}

// checkSchema holds a value to a schema, of whom it says. What is not known cannot be checked; the arguments of an action
// with files in them are checked by the broker.
func checkSchema(raw json.RawMessage, v any, what, whose string) error {
	if len(raw) == 0 || opaque(v) {
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
		return fmt.Errorf("%s does not match %s's schema: %w", what, whose, err)
	}
	return nil
}

// keepJSON stores a value, scrubbed, and says what an entry holds of it.
func (r *run) keepJSON(v any) (ledger.Data, error) {
	body, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return r.keepBytes(body)
}

// keepBytes stores a body, scrubbed, and says what an entry holds of it.
func (r *run) keepBytes(body []byte) (ledger.Data, error) {
	kept, hits := r.Secrets.Redact(body)
	d := ledger.Data{"sha256": digest.Bytes(kept), "bytes": len(kept)}
	if len(hits) > 0 {
		d["scrubbed"] = true
	}
	var err error
	if r.Objects != nil {
		_, err = r.Objects.PutBytes(kept)
	}
	return d, err
}

// text makes a string for the ledger of words that may hold anything and be of any length: scrubbed and at most 8 KiB.
func (r *run) text(s string) string {
	const most = 8 << 10
	b, _ := r.Secrets.Redact([]byte(s))
	if len(b) > most {
		cut := most
		for cut > most-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		b = append(bytes.Clone(b[:cut]), " …"...)
	}
	out, _ := ledger.Text(b)
	return out
}

// exact is text that is never cut: for what the ledger must hold to the last character.
func (r *run) exact(s string) string {
	b, _ := r.Secrets.Redact([]byte(s))
	out, _ := ledger.Text(b)
	return out
}

// scrubbed is err without a secret in its words or its hints: they may quote what a VM printed.
func (r *run) scrubbed(err error) error {
	said := err.Error()
	for _, e := range fault.All(err) {
		said += "\n" + e.Hint
	}
	if _, hits := r.Secrets.Redact([]byte(said)); len(hits) == 0 {
		return err
	}
	clean, _ := r.Secrets.Redact([]byte(err.Error()))
	return errors.New(string(clean))
}

// words is what a model said, or is to be told, without a secret in it.
func (r *run) words(s string) string {
	clean, _ := r.Secrets.Redact([]byte(s))
	return string(clean)
}

// scrubOutput takes secrets out of what a step left as its result, whoever said it: it goes to later steps, into
// result.json and onto the record. What is no JSON afterwards is withheld.
func (r *run) scrubOutput(s plan.Step, res *result) *Failure {
	if res.Output == nil || opaque(res.Output) {
		return nil
	}
	body, err := marshal(res.Output)
	if err != nil {
		return &Failure{Kind: fault.Platform, Err: err}
	}
	clean, hits := r.Secrets.Redact(body)
	if len(hits) == 0 {
		return nil
	}
	res.Output = nil
	if err := r.recordFinds(s.ID, "result", findsOf(hits), nil); err != nil {
		return &Failure{Kind: fault.Platform, Err: err}
	}
	out, err := oneJSON(clean)
	if err != nil {
		return &Failure{Kind: fault.Agent, Err: errors.New("the result has a secret in it and is no JSON without it: it is withheld")}
	}
	res.Output = out
	return nil
}
