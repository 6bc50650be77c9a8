package secret

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret/rules"
)

// MinLen is the shortest value, in bytes, that a Set takes: shorter ones would be found where they are not.
const MinLen = 8

// Hit is one place where a value was found.
type Hit struct {
	Name   string // of the secret, or of the rule where Form is Rule; never the value
	Form   Form
	Offset int64 // in the input, bytes
	Len    int   // bytes
}

// Set is the secrets that are looked for. It may grow while writers are at work: register a token before its first
// use and every writer knows it from its next Write on. It is safe for concurrent use and never formatted.
type Set struct {
	*known
	rules func() *rules.Set // for what nobody told; nil: none
	skip  []string          // of the rules
}

// known is the values that were told. Sets that differ in their rules share it.
type known struct {
	mu    sync.Mutex // held by Add
	table atomic.Pointer[table]
}

// NewSet makes an empty Set.
func NewSet() *Set {
	s := &Set{known: &known{}}
	s.table.Store(newTable(nil))
	return s
}

// NewScrubber makes a Set that, besides the values it is told, finds what has the shape of a credential (see rules). Hits of
// those have the rule's name and the form Rule. The rules are read when the Set is first used.
func NewScrubber() *Set {
	s := NewSet()
	s.rules = rules.Default
	return s
}

// Without is the same Set, which also grows along, less some of the rules. What was told is found all the same.
func (s *Set) Without(rules ...string) *Set {
	if len(rules) == 0 {
		return s
	}
	return &Set{known: s.known, rules: s.rules, skip: slices.Concat(s.skip, rules)}
}

// Told is the same Set, which also grows along, without rules: what was told and nothing else.
func (s *Set) Told() *Set { return &Set{known: s.known} }

// Empty says whether nothing was told yet.
func (s *Set) Empty() bool { return len(s.table.Load().needles) == 0 }

// Format writes the mask for every verb.
func (*Set) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(mask)) }

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,127}$`)

// Add makes the value known under a name of at most 128 of A-Z a-z 0-9 _ . : / -. The value is taken without white
// space at its ends; what is then shorter than MinLen is refused with kind Input. A value that is known already
// keeps the name it has; a name may have several values.
func (s *Set) Add(name string, value []byte) error {
	if !nameForm.MatchString(name) {
		return fault.New(fault.Input, "%.128q is no name of a secret", name)
	}
	value = bytes.TrimSpace(value)
	if len(value) < MinLen {
		return fault.New(fault.Input, "secret %s is shorter than %d bytes: it could not be told from plain text", name, MinLen).
			WithHint("use a longer credential")
	}
	found := forms(name, bytes.Clone(value))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.table.Store(s.table.Load().with(found))
	return nil
}

// Redact replaces each value in b by [REDACTED:name], in a copy, and says where they were. Without a hit it returns
// b itself.
func (s *Set) Redact(b []byte) ([]byte, []Hit) {
	var out bytes.Buffer
	hits := s.collect(&out, bytes.NewReader(b))
	if len(hits) == 0 {
		return b, nil
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Offset, b.Offset) })
	return out.Bytes(), hits
}

// Find lists where values are in what r gives until its end, for bytes that cannot be redacted. The error is that
// of r.
func (s *Set) Find(r io.Reader) ([]Hit, error) {
	var hits []Hit
	w := s.Writer(io.Discard, func(h Hit) { hits = append(hits, h) })
	if _, err := io.Copy(w, r); err != nil {
		return hits, err
	}
	return hits, w.Close()
}

// collect redacts what r gives into out. Neither end can fail.
func (s *Set) collect(out *bytes.Buffer, r *bytes.Reader) (hits []Hit) {
	w := s.Writer(out, func(h Hit) { hits = append(hits, h) })
	_, _ = io.Copy(w, r)
	_ = w.Close()
	return hits
}
