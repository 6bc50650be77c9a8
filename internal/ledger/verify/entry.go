// Package verify reads a ledger and says whether it is what was written.
//
// The one rule: it believes nothing that it has not recomputed, and shares no code with what wrote the ledger, so
// that a mistake there is not repeated here. A line must equal, byte for byte, the canonical form of what it says:
// reading it and hashing it again would accept duplicate keys, other spellings of a key and fields that nobody reads.
//
// A chain cannot show that its end was cut off, nor that all of it was written anew: the seal, or a head kept
// elsewhere, does.
package verify

import (
	"fmt"
	"time"
)

// MaxLine is the most bytes a line may have, its newline included.
const MaxLine = 16 << 20

// MaxDepth is how deep data may nest.
const MaxDepth = 64

// maxInt is 2^53-1: a larger integer changes in readers that know only binary64 (RFC 7493, section 2.2).
const maxInt = 1<<53 - 1

const timeLayout = "2006-01-02T15:04:05.000Z"

// Entry is one line. The values of its data are string, bool, int64, []any and map[string]any.
type Entry struct {
	Line int    // 1-based, in what was read
	Raw  []byte // the line without its newline; valid until the function it was given to returns

	Seq  int64
	Time time.Time
	Run  string
	Type string
	Step string         // "" when the entry is of no step
	Data map[string]any // not for Check without Each, which has no use for it
	Prev string
	Hash string // as written; recomputed by Check

	body int   // how many bytes of Raw are hashed: those before `,"hash":`
	of   int64 // data's "of", or 0
}

// String gives data's string under key, or "".
func (e Entry) String(key string) string {
	s, _ := e.Data[key].(string)
	return s
}

// Int gives data's integer under key, and whether there is one.
func (e Entry) Int(key string) (int64, bool) {
	n, ok := e.Data[key].(int64)
	return n, ok
}

// BadLine is the error of a line that is no entry.
type BadLine struct {
	Line    int
	Problem string
	Torn    bool  // it is the last and has no newline: what a crash in the middle of a write leaves
	Bytes   int64 // how many bytes a torn line has
}

func (b *BadLine) Error() string { return fmt.Sprintf("line %d %s", b.Line, b.Problem) }
