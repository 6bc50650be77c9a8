package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	return r.scribe.Body(body)
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
	clean, _ := r.Secrets.Settle([]byte(s))
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
