package verify

import (
	"maps"
	"slices"
	"time"
)

// State is what a ledger is.
type State string

// What Check may find.
const (
	Complete   State = "complete"   // the chain holds and the run finished
	Incomplete State = "incomplete" // the chain holds as far as it goes, but there is no run.finished
	Broken     State = "broken"     // a line is not what was written
)

// Report is what Check found.
type Report struct {
	State   State
	Line    int    // of the problem; 0 when it is of no single line
	Problem string // a sentence; "" when complete

	Run        string // "" when there is no entry
	PlanDigest string // what line 1 names as its prev
	Entries    int64  // that hold, from the first on
	Head       string // hash of the last entry that holds; "" when none does
	Started    time.Time
	Ended      time.Time // of the last entry that holds
	Finished   bool

	// Root is that of the tree over the lines that hold.
	Root Hash
	// What the ledger says of its seal; ReadSeal says whether it is true.
	Sealed    bool   // the last entry is run.sealed
	SealKey   string // the public key that it names
	Recovered bool   // joy gc sealed it, after joy had died
	Workspace string // as run.started has it

	// Unknown are the starts without an end: the outcome of each is unknown. NotFollowed are starts that came when very many
	// had no end, which nobody looked for an end of.
	Unknown     []Open
	NotFollowed int64
}

// Open is an entry that started something whose end is not in the ledger.
type Open struct {
	Seq  int64
	Type string
	Step string

	of int64 // what this entry itself ended, for ends that name the beginning of it all
}

// types is every type that a ledger of this version may hold.
var types = map[string]bool{
	"run.started": true, "run.waiting": true, "run.resumed": true, "run.finished": true, "run.sealed": true,
	"step.started": true, "step.finished": true, "step.skipped": true,
	"sandbox.requested": true, "sandbox.created": true, "sandbox.destroyed": true, "sandbox.lost": true,
	"command.started": true, "command.finished": true, "file.written": true, "file.read": true,
	"model.requested": true, "model.replied": true,
	"tool.requested": true, "tool.returned": true, "tool.denied": true, "tool.drifted": true,
	"egress.allowed": true, "egress.closed": true, "egress.denied": true,
	"artifact.stored": true, "artifact.skipped": true, "artifact.quarantined": true, "scrub.found": true,
	"token.issued": true, "token.revoked": true,
	"approval.requested": true, "approval.granted": true, "approval.denied": true,
	"ledger.recovered": true,
}

// Known reports whether t is a type of entry.
func Known(t string) bool { return types[t] }

// Types lists every type of entry, sorted.
func Types() []string { return slices.Sorted(maps.Keys(types)) }

// ends maps the type of an end to the types it may end, the likelier first. A lost sandbox stays open until it is
// destroyed: it may still be alive. tool.denied ends nothing: what was denied was never begun, and other calls of its
// step may be under way.
var ends = map[string][]string{
	"step.finished":     {"step.started"},
	"sandbox.created":   {"sandbox.requested"},
	"sandbox.lost":      {"sandbox.requested"},
	"sandbox.destroyed": {"sandbox.created", "sandbox.requested"},
	"command.finished":  {"command.started"},
	"model.replied":     {"model.requested"},
	"tool.returned":     {"tool.requested"},
	"egress.closed":     {"egress.allowed"},
	"approval.granted":  {"approval.requested"},
	"approval.denied":   {"approval.requested"},
}

var starts = func() map[string]bool {
	m := map[string]bool{}
	for _, of := range ends {
		for _, t := range of {
			m[t] = true
		}
	}
	return m
}()
