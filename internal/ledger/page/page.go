// Package page tells a run as one HTML file: what happened, when, and what came of it, for whoever has a browser and
// nothing else.
//
// The one rule: nothing that a run left behind acts in the page. Everything a stranger wrote is text with its control
// characters made visible; only the bytes of four kinds of raster images become pictures; and the page's own policy
// lets the browser load nothing and run nothing but the script that joy put there.
package page

import (
	"bufio"
	"io"
	"time"

	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
)

// What bounds a page, however large its ledger is. What goes beyond is counted and said to be left out.
const (
	maxSteps        = 200 // in detail
	maxItemsOfStep  = 60  // that went well, of one step; the first
	maxTroubleStep  = 60  // more, of one step, that did not
	maxItems        = 1500
	maxTrouble      = 1500 // of the whole run, beside maxItems
	maxArtifacts    = 300
	maxHosts        = 200
	maxUnknown      = 100
	maxTalk         = 8 << 20  // of a request to a model or an answer, what is read for its text
	maxOpen         = 4096     // starts whose end has not come; of more the page says that they are not shown
	maxBars         = 400      // of one lane of the timeline: what is closer than that is drawn as one
	maxName         = 300      // runes of a name, a reason, an error
	maxListed       = 50       // members of a list
	maxCommand      = 32 << 10 // bytes of a command's text
	maxOutputHead   = 8 << 10  // bytes of what a stream printed first,
	maxOutputTail   = 24 << 10 // and last
	maxBody         = 16 << 10 // bytes of arguments, results, inputs, outputs of a step
	maxScript       = 32 << 10 // bytes of a bundle's script
	maxTextArtifact = 32 << 10
	maxImage        = 2 << 20  // bytes of one picture
	maxPixels       = 16 << 20 // of one picture: a browser takes 4 bytes for each
	maxAllText      = 8 << 20  // bytes of text in the page, as HTML
	maxAllImages    = 8 << 20  // bytes of pictures, before base64
	maxRead         = 1 << 30  // bytes of output and artifacts that are read and hashed
)

// MaxBytes is more than a page can have. It follows from the caps above.
const MaxBytes = 40 << 20

// Verdict is what is known of the ledger: what verify.Judge found, and what shows that it is true, in words.
type Verdict struct {
	verify.Verdict
	Proofs []string
}

// Record is what a page is made of beside the entries of its ledger.
type Record struct {
	Verdict Verdict
	Why     account.Diagnosis // shown when the run did not succeed
	Live    bool              // the run goes on
	Plan    *plan.Plan        // nil: not kept; one of another digest than the ledger's is passed over
	Zone    *time.Location    // for times beside UTC
	Gone    string            // says that bodies were removed, when and by whom; "" when they were not

	// Output opens what the nth command of a step printed to "stdout" or "stderr"; Object what has a digest. An error
	// that is fs.ErrNotExist means that it is not kept. Either may be nil. The page closes what it opened, and shows
	// bytes only when they have the digest that the ledger names.
	Output func(step string, nth int, stream string) (io.ReadCloser, error)
	Object func(digest string) (io.ReadCloser, error)
}

// Write writes the page for the entries that were added. The error is that of w: what cannot be read of what lies
// beside the ledger is said in its place.
func (p *Page) Write(w io.Writer, r Record) error {
	out := bufio.NewWriterSize(w, 64<<10)
	v := newView(p, r)
	for name, data := range v.parts {
		if err := templates.ExecuteTemplate(out, name, data); err != nil {
			return err
		}
	}
	return out.Flush()
}
