package account

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Bounds of what is held of a run, so that a ledger of any size can be compared.
const (
	maxOfKind  = 1000     // facts of a kind that a step has
	maxFacts   = 50_000   // of all
	maxHeld    = 16 << 20 // bytes of their values
	maxValue   = 4 << 10  // of one
	maxKinds   = 20_000   // kinds of all steps together; a plan has at most 2000 steps
	beyond     = "further steps"
	valueShown = 1 << 10 // of a value that is longer than maxValue
)

// kind is all that a step did of a kind, together: two runs that have the same sum and count did the same there.
type kind struct {
	count int
	held  int // of them, one by one
	sum   [4]uint64
}

// add counts a fact. The sum does not depend on an order: what has one carries its number in its key.
func (n *kind) add(k key, value string) {
	sum := sha256.Sum256([]byte(k.name + "\x00" + value))
	for i := range n.sum {
		n.sum[i] += binary.LittleEndian.Uint64(sum[8*i:])
	}
	n.count++
}

func (n *kind) same(other *kind) bool {
	return n != nil && other != nil && n.count == other.count && n.sum == other.sum
}

// whole says whether every fact of the kind is held. Of a kind that a run does not have, none is missing.
func (n *kind) whole() bool { return n == nil || n.held == n.count }

// text is what is said of a kind that is not held whole.
func (n *kind) text() string {
	if n == nil {
		return ""
	}
	return fmt.Sprintf("%d, of which the first %d were compared one by one", n.count, n.held)
}

func kindOf(k key) key { return key{k.step, k.what, ""} }

// set notes a fact. A later value of the same takes the place of the one before.
func (r *Run) set(k key, value string) {
	n := r.kinds[kindOf(k)]
	if n == nil && len(r.kinds) >= maxKinds {
		k = key{"", beyond, ""}
		n = r.kinds[k]
	}
	if n == nil {
		n = &kind{}
		r.kinds[kindOf(k)] = n
	}
	if len(value) > maxValue {
		value = fmt.Sprintf("%s sha256:%x, %d bytes", clip(value, valueShown), sha256.Sum256([]byte(value)), len(value))
	}
	old, known := r.facts[k]
	switch {
	case known && old == value:
		return
	case known:
		n.count-- // it is the same one
	}
	n.add(k, value)
	switch {
	case known:
		r.facts[k] = value
	case k.what != beyond && n.held < maxOfKind && len(r.facts) < maxFacts && r.bytes < maxHeld:
		n.held++
		r.bytes += len(value)
		r.facts[k] = value
		r.order = append(r.order, k)
	}
}
