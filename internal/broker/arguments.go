package broker

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

// fix adds the arguments that a grant fixes. The caller's own keep their bytes. What two readers may read in two ways is
// refused: a key that is there twice, text that is not UTF-8.
func fix(args, fixed json.RawMessage) (json.RawMessage, error) {
	args = orEmpty(args)
	if _, err := digest.CanonicalText(args); err != nil {
		return nil, fault.Wrap(fault.Input, err, "its arguments cannot be read")
	}
	own, err := readObject(args)
	if err != nil {
		return nil, fault.New(fault.Input, "its arguments are not a JSON object")
	}
	set, err := readObject(orEmpty(fixed))
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "what the plan fixes of its arguments")
	}
	if len(set) == 0 {
		return args, nil
	}
	names := own.keys()
	for _, m := range set {
		if slices.Contains(names, m.key) {
			return nil, fault.New(fault.Policy, "the plan fixes its argument %q, which a call cannot give", m.key)
		}
	}
	return append(own, set...).json(), nil
}

// clean is a server's answer as a step and the record get it: with every secret replaced, which is counted on record. A
// credential that the answer brings along would otherwise be in the VM.
func (b *Broker) clean(step, action string, raw json.RawMessage) (json.RawMessage, error) {
	kept, hits := b.cfg.Secrets.RedactJSON(raw)
	if len(hits) == 0 {
		return raw, nil
	}
	type found struct{ kind, name string }
	counts, first := map[found]int{}, map[found]int64{}
	var order []found
	for _, h := range hits {
		f := found{"secret", h.Name}
		if h.Form == secret.Rule {
			f.kind = "rule"
		}
		if counts[f]++; counts[f] == 1 {
			order, first[f] = append(order, f), h.Offset
		}
	}
	var errs []error
	for _, f := range order {
		_, err := b.cfg.Ledger.Append(ledger.ScrubFound, step, ledger.Data{"in": action, f.kind: f.name, "count": counts[f], "offset": first[f]})
		errs = append(errs, err)
	}
	if !json.Valid(kept) {
		errs = append(errs, fault.New(fault.Connection, "the answer holds what may be a secret, and is no JSON without it"))
	}
	return kept, errors.Join(errs...)
}
