// Package export tells a verified ledger in the formats of other tools: an in-toto statement, spans of OpenTelemetry, a
// table.
//
// The one rule: an export says only what the ledger and the plan that it names say, and what is not on record stays out
// of it. It is a copy to read or to hand on; the ledger remains the record.
package export

import (
	"io"
	"slices"

	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/plan"
)

// Run is what an export is of, besides the entries.
type Run struct {
	Report verify.Report // complete or incomplete; a broken ledger is exported by nobody
	Plan   *plan.Plan    // of the digest that the ledger names; nil when it is not kept
	Lock   []byte        // the file that Plan was read from
	Seal   []byte        // the content of seal.note; nil when there is none

	// Joy is the version of the joy that exports, and JoyDigest names its program ("sha256:…", or "").
	Joy, JoyDigest string

	// Key is the key that sealed the ledger. The error is a *fault.Error when this machine does not have it.
	Key func() (notekey.Key, error)
}

// Writer writes one export. It is given every entry of the ledger in order, and then closed. After an error it is of no
// use; what it has written until then is no export.
type Writer interface {
	// Add takes the next entry. It keeps nothing of e.Raw.
	Add(e verify.Entry) error
	// Close writes what is left. It does not close what the Writer writes to.
	Close() error
}

// Format is one way to tell a ledger.
type Format struct {
	Name  string // the value of --format
	About string // half a line for help
	Whole bool   // an incomplete ledger cannot be told this way
	JSON  bool   // the export is one JSON document

	// Open begins an export to w.
	Open func(w io.Writer, run Run) (Writer, error)
}

// Formats are all there are, in the order that help lists them. A new one is a file of this package and its name here.
var Formats = []Format{inToto, otlp, table}

// Find is the format of that name.
func Find(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// Names lists the formats' names.
func Names() []string {
	var list []string
	for _, f := range Formats {
		list = append(list, f.Name)
	}
	return list
}
