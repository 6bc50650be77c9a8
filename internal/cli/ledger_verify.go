package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// verifyJSON is the document of `joy ledger verify RUN --json`, and each run of that without RUN.
type verifyJSON struct {
	Schema     string        `json:"schema,omitempty"`
	File       string        `json:"file"`
	Run        string        `json:"run"`
	State      string        `json:"state"` // complete | incomplete | broken | missing | removed
	Line       int           `json:"line,omitempty"`
	Problem    string        `json:"problem,omitempty"`
	Entries    int64         `json:"entries"` // that hold
	Head       string        `json:"head"`    // hash of the last of them
	PlanDigest string        `json:"plan_digest"`
	Started    string        `json:"started,omitempty"`
	Ended      string        `json:"ended,omitempty"`
	Sealed     bool          `json:"sealed"`          // under a seal that holds
	Proofs     []proofJSON   `json:"proofs"`          // what shows that it is what was written, in that order
	Since      string        `json:"since,omitempty"` // what joy removed of the run after its end, and who asked for it
	Unknown    []unknownJSON `json:"unknown"`
	// NotFollowed are starts that came when 65536 had no end: nobody looked for theirs.
	NotFollowed int64 `json:"not_followed,omitempty"`
}

// proofJSON is one thing that was checked, and against what.
type proofJSON struct {
	Kind string `json:"kind"` // chain | self-signed | own-key | key | head | index | witness
	By   string `json:"by,omitempty"`
	Text string `json:"text"`
}

// unknownJSON was started, and its outcome is unknown.
type unknownJSON struct {
	Seq  int64  `json:"seq"`
	Type string `json:"type"`
	Step string `json:"step,omitempty"`
}

// verifyOptions are what a person holds a ledger against.
type verifyOptions struct {
	head string
	seal string   // path; "" is seal.note beside the ledger, if there is one
	keys []string // public, of workspaces
	told []string // public, of witnesses

	each func(verify.Entry) // is given every entry that holds; may be nil
}

func newLedgerVerifyCmd(a *app) *cobra.Command {
	var o verifyOptions
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify [RUN|FILE|PROOF]",
		Short: "Check that ledgers are what was written",
		Long: "Check that a ledger is what was written, line by line; that its seal is of these lines; and what your index\n" +
			"of runs knows. It says what that proves, and of a broken ledger the line and what is wrong. Without RUN it checks\n" +
			"every run of the project and finds those whose ledger is gone. A copy is checked anywhere, with seal.note beside\n" +
			"it or --seal. It ends with 7 when a ledger is broken or incomplete, and when nothing shows where it ends.",
		Example: "  joy ledger verify\n" +
			"  joy ledger verify 20261124-180300-k3fq2a --key acme.pub\n" +
			"  joy ledger verify copy.jsonl --seal seal.note --head sha256:9ee1…",
		Args:              argsBetween(0, 1, "one run, file or proof"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.head != "" && !headForm.MatchString(o.head) {
				return usagef(cmd, "--head %q is not sha256: and 64 hex digits", o.head)
			}
			if len(args) == 0 && (o.head != "" || o.seal != "") {
				return usagef(cmd, "--head and --seal are of one run: say which, or latest")
			}
			var err error
			if o.keys, o.told, err = a.verifyKeys(keys); err != nil {
				return err
			}
			if len(args) == 0 {
				return a.ledgerVerifyAll(o)
			}
			if proof, err := a.readProof(args[0]); proof != nil || err != nil {
				return a.ledgerVerifyProof(args[0], proof, err, o)
			}
			return a.ledgerVerify(args, o)
		},
	}
	cmd.Flags().StringVar(&o.head, "head", "", "the last entry's hash must be `HASH`")
	cmd.Flags().StringVar(&o.seal, "seal", "", "take the seal from `FILE` instead of seal.note beside the ledger")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "the seal must be signed with public `KEY` (or a file with one); of a witness: its answer")
	return cmd
}

var headForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (a *app) ledgerVerify(args []string, o verifyOptions) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	v, err := a.judgeLedger(f, shown, o)
	if err != nil {
		return err
	}
	if a.json {
		doc := verifyDoc(v)
		doc.Schema = "joy.ledger-verify/1"
		if err := a.printJSON(doc); err != nil || v.State == verify.Complete {
			return err
		}
		return exit(exitCodeOf(fault.Ledger))
	}
	if _, err := io.WriteString(a.out, a.verifyText(v)); err != nil {
		return err
	}
	return ledgerFault(shown, v.Report)
}

// ledgerFault is nil for a complete ledger, else the failure that exits 7.
func ledgerFault(shown string, rep verify.Report) error {
	if rep.State == verify.Complete {
		return nil
	}
	return fault.New(fault.Ledger, "the ledger is %s: %s", rep.State, rep.Problem).At(shown, rep.Line, 0)
}

func (a *app) verifyText(v verdict) string {
	if v.Entries == 0 {
		return ""
	}
	style, sealed := a.out.good, ""
	if v.State != verify.Complete {
		style = a.out.fail
	}
	if v.Seal != nil {
		sealed = ", sealed"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s\n", term.Line(v.Run), style.Render(string(v.State)+sealed))
	fmt.Fprintf(&b, "  entries  %d hold, %s to %s\n", v.Entries, stampUTC(v.Started), stampUTC(v.Ended))
	fmt.Fprintf(&b, "  plan     %s\n  head     %s\n", v.PlanDigest, v.Head)
	for _, p := range v.proofs {
		fmt.Fprintf(&b, "  proof    %s\n", term.Line(p.Text))
	}
	if text := v.maintenance.text(); text != "" {
		fmt.Fprintf(&b, "  since    %s\n", term.Line(text))
	}
	for i, o := range v.Unknown {
		if i == maxUnknown {
			fmt.Fprintf(&b, "  outcome unknown: %d entries more, which --json has\n", len(v.Unknown)-i)
			break
		}
		fmt.Fprintf(&b, "  outcome unknown: entry %d, %s", o.Seq, o.Type)
		if o.Step != "" {
			fmt.Fprintf(&b, " of step %s", term.Line(o.Step))
		}
		b.WriteString(", has no end\n")
	}
	if v.NotFollowed > 0 {
		fmt.Fprintf(&b, "  outcome unknown: of %d entries more nobody looked for an end, since so many have none\n", v.NotFollowed)
	}
	return b.String()
}

// maxUnknown is how many starts without an end are told one by one.
const maxUnknown = 100

func verifyDoc(v verdict) verifyJSON {
	doc := verifyJSON{
		File: v.file, Run: v.Run, State: string(v.State), Line: v.Line, Problem: v.Problem, Entries: v.Entries, Head: v.Head,
		PlanDigest: v.PlanDigest, Sealed: v.Seal != nil, Proofs: notNil(v.proofs), Since: v.maintenance.text(), Unknown: []unknownJSON{},
	}
	if v.Entries > 0 {
		doc.Started, doc.Ended = stampUTC(v.Started), stampUTC(v.Ended)
	}
	for _, o := range v.Unknown {
		doc.Unknown = append(doc.Unknown, unknownJSON{o.Seq, o.Type, o.Step})
	}
	doc.NotFollowed = v.NotFollowed
	return doc
}

func stampUTC(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
