// Package ledger writes the record of one run: JSON lines, each chained to the one before by its hash.
//
// The one rule: what cannot be recorded does not happen. An entry for an effect is on the disk before Effect
// returns, and after a failed write every later call fails, so that no effect can slip past the record.
//
// A line is one JSON object with its keys in this order:
//
//	seq, time, run, type, step (left out when empty), data, prev, hash
//
// without spaces, with data's keys sorted by their bytes at every depth, and with only the escapes that JSON
// requires (RFC 8259, section 7; the short forms \b \t \n \f \r where they exist, else \u00xx in lower case).
// hash is "sha256:" and the hex SHA-256 of the line's bytes before its last `,"hash":`; prev is the hash of the line
// before, and in line 1 the digest of the plan. time is RFC 3339 in UTC with milliseconds and never goes back within
// a ledger: when the clock does, the time of the entry before is repeated.
//
// An entry that ends another (command.finished, tool.returned, …) may carry in data "of": the seq of the entry that
// started it. Without it a reader pairs the oldest open start of the same step.
package ledger

import (
	"io"
	"time"
)

// FileName is the ledger's name in a run's directory.
const FileName = "ledger.jsonl"

// TornName is the file that keeps what recovery cut off, beside the ledger.
const TornName = FileName + tornSuffix

const tornSuffix = ".torn"

// MaxLine is the most bytes a line may have, its newline included. Bodies belong in the artifact store; an entry
// names them by digest. The verifier has the same limit.
const MaxLine = 16 << 20

// MaxInt is the largest integer an entry may hold, and -MaxInt the smallest: 2^53-1, beyond which readers that know
// only binary64 change the number (RFC 7493, section 2.2). Write larger ones as strings.
const MaxInt = 1<<53 - 1

// MaxDepth is how deep data may nest.
const MaxDepth = 64

// SyncWithin is how long an entry that Append wrote may be missing from the disk.
const SyncWithin = 50 * time.Millisecond

// timeLayout is RFC 3339 with exactly three decimals, for times in UTC.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Options are the writer's surroundings. The zero value is ready to use.
type Options struct {
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// Tee, when not nil, gets the lines after they were written to the file, in order, from one goroutine that never
	// holds up the run. When it fails (a pager was closed) it gets nothing more and the ledger goes on.
	Tee io.Writer
}
