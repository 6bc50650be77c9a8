package runner

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/secret"
)

// found is what was found: a secret that joy was told of, or what a rule took for one.
type found struct {
	name string
	rule bool
}

// tally says how often, and where first.
type tally struct {
	count int
	first int64 // bytes from the beginning
	form  secret.Form
}

// finds is what one text was found to hold. Its size is bounded by the names there are, not by the text.
type finds map[found]*tally

func (f finds) add(h secret.Hit) {
	key := found{h.Name, h.Form == secret.Rule}
	if f[key] == nil {
		f[key] = &tally{first: h.Offset, form: h.Form}
	}
	f[key].count++
}

func findsOf(hits []secret.Hit) finds {
	f := finds{}
	for _, h := range hits {
		f.add(h)
	}
	return f
}

// sorted has the secrets that were told first.
func (f finds) sorted() []found {
	return slices.SortedFunc(maps.Keys(f), func(a, b found) int {
		if a.rule != b.rule {
			return cmp.Compare(btoi(a.rule), btoi(b.rule))
		}
		return cmp.Compare(a.name, b.name)
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// data names what was found, as a secret or a rule.
func (f finds) data(key found) ledger.Data {
	d := ledger.Data{"count": f[key].count, "offset": f[key].first}
	if key.rule {
		d["rule"] = key.name
	} else {
		d["secret"] = key.name
	}
	return d
}

// recordFinds says what was replaced where, never the value, with the HMAC of what it was. A connection's credential ends
// the run.
func (r *run) recordFinds(step, where string, f finds, mac hash.Hash) error {
	var errs []error
	for _, key := range f.sorted() {
		r.watch(where, key)
		d := f.data(key)
		d["in"] = r.scribe.Text(where)
		if mac != nil {
			d["hmac"] = sum(mac)
		}
		_, err := r.Ledger.Append(ledger.ScrubFound, step, d)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// mac makes the HMAC (RFC 2104) that stands for bytes which may hold a secret: a plain digest of them could be guessed at.
func (r *run) mac() hash.Hash {
	if len(r.Key) == 0 {
		return nil
	}
	return hmac.New(sha256.New, r.Key)
}

func sum(mac hash.Hash) string { return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil)) }
