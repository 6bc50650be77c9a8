package broker

import (
	"encoding/json"
	"slices"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
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

// keep stores a body, scrubbed, and says what an entry holds of it.
func (b *Broker) keep(body []byte) (ledger.Data, error) {
	kept, hits := b.cfg.Secrets.Redact(body)
	d := ledger.Data{"sha256": digest.Bytes(kept), "bytes": len(kept)}
	if len(hits) > 0 {
		d["scrubbed"] = true
	}
	if b.cfg.Objects == nil {
		return d, nil
	}
	_, err := b.cfg.Objects.PutSoon(kept)
	return d, err
}

// maxText bounds the words of strangers in an entry, in bytes.
const maxText = 8 << 10

// text makes words of a stranger fit for an entry: scrubbed, valid and bounded.
func (b *Broker) text(s string) string {
	clean, _ := b.cfg.Secrets.Redact([]byte(s))
	out, _ := ledger.Text(clean[:min(len(clean), maxText)])
	return out
}
