// Package record makes what an entry of the ledger holds of words and bodies that may hold anything.
//
// The one rule: nothing of a stranger's goes on record as it came. It is scrubbed first; what names a body is the digest of what
// is kept of it.
package record

import (
	"bytes"
	"unicode/utf8"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

// MaxText bounds the words of strangers in an entry, in bytes.
const MaxText = 8 << 10

// Scribe writes down what a run is told. It is safe for concurrent use.
type Scribe struct {
	Secrets *secret.Set
	Objects *artifact.Store // keeps the bodies; nil: only their digests are on record
}

// Body keeps a body, scrubbed and durable, and says what an entry holds of it.
func (s Scribe) Body(b []byte) (ledger.Data, error) {
	clean, hits := s.Secrets.Settle(b)
	return s.put(clean, len(hits) > 0, (*artifact.Store).PutBytes)
}

// JSONSoon is Body for JSON, whose strings are scrubbed as what they say, without waiting for the disk (see
// artifact.Store.PutSoon): for what a run is full of.
func (s Scribe) JSONSoon(b []byte) (ledger.Data, error) {
	clean, hits := s.Secrets.RedactJSON(b)
	return s.CleanSoon(clean, len(hits) > 0)
}

// CleanSoon keeps, without waiting for the disk, a body that was scrubbed by the run's secrets already; changed says whether anything
// was replaced.
func (s Scribe) CleanSoon(clean []byte, changed bool) (ledger.Data, error) {
	return s.put(clean, changed, (*artifact.Store).PutSoon)
}

func (s Scribe) put(clean []byte, changed bool, put func(*artifact.Store, []byte) (artifact.Object, error)) (ledger.Data, error) {
	obj := artifact.Object{Size: int64(len(clean))}
	var err error
	if s.Objects == nil {
		obj.Digest = digest.Bytes(clean)
	} else if obj, err = put(s.Objects, clean); err != nil {
		return nil, err
	}
	d := ledger.Data{"sha256": obj.Digest, "bytes": obj.Size}
	if changed {
		d["scrubbed"] = true
	}
	return d, nil
}

// Text makes a string for an entry of words of any length: scrubbed, valid and, beyond MaxText, cut.
func (s Scribe) Text(words string) string {
	b, _ := s.Secrets.Settle([]byte(words))
	if len(b) > MaxText {
		cut := MaxText
		for cut > MaxText-utf8.UTFMax && !utf8.RuneStart(b[cut]) {
			cut--
		}
		b = append(bytes.Clone(b[:cut]), " …"...)
	}
	out, _ := ledger.Text(b)
	return out
}

// Exact is Text that is never cut: for what an entry must hold to the last character.
func (s Scribe) Exact(words string) string {
	b, _ := s.Secrets.Settle([]byte(words))
	out, _ := ledger.Text(b)
	return out
}
