package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
)

// verifyJSON is the document of `joy ledger verify --json`.
type verifyJSON struct {
	Schema     string        `json:"schema"`
	File       string        `json:"file"`
	Run        string        `json:"run"`
	State      string        `json:"state"` // complete | incomplete | broken
	Line       int           `json:"line,omitempty"`
	Problem    string        `json:"problem,omitempty"`
	Entries    int64         `json:"entries"` // that hold
	Head       string        `json:"head"`    // hash of the last of them
	PlanDigest string        `json:"plan_digest"`
	Started    string        `json:"started,omitempty"`
	Ended      string        `json:"ended,omitempty"`
	Sealed     bool          `json:"sealed"`
	Unknown    []unknownJSON `json:"unknown"` // started, outcome unknown
}

type unknownJSON struct {
	Seq  int64  `json:"seq"`
	Type string `json:"type"`
	Step string `json:"step,omitempty"`
}

func newLedgerVerifyCmd(a *app) *cobra.Command {
	var head string
	cmd := &cobra.Command{
		Use:   "verify [RUN|FILE]",
		Short: "Check that a ledger is what was written, line by line",
		Long: "Check that a ledger is what was written: each line's form, hash and place in the chain, and that it is\n" +
			"the ledger of the run and plan it lies with. It ends with 7 when it is broken or incomplete, and names the line.\n\n" +
			"A chain alone cannot show that its end was cut off or that all of it was written anew. A seal does, or\n" +
			"--head with a head that was kept elsewhere.",
		Example: "  joy ledger verify\n" +
			"  joy ledger verify 20261124-180300-k3fq2a\n" +
			"  joy ledger verify run.jsonl --head sha256:9ee1…",
		Args:              argsBetween(0, 1, "one run or file"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if head != "" && !headForm.MatchString(head) {
				return usagef(cmd, "--head %q is not sha256: and 64 hex digits", head)
			}
			return a.ledgerVerify(args, head)
		},
	}
	cmd.Flags().StringVar(&head, "head", "", "the last entry's hash must be `HASH`")
	return cmd
}

var headForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func (a *app) ledgerVerify(args []string, head string) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	rep, err := verify.Check(f, verify.Options{})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if problem := a.misplaced(shown, rep); problem != "" && rep.State != verify.Broken {
		rep.State, rep.Line, rep.Problem = verify.Broken, 1, problem
	}
	if rep.State == verify.Complete && head != "" && rep.Head != head {
		rep.State = verify.Broken
		rep.Problem = "its head is " + rep.Head + ", not the one given: entries were cut off, added or written anew"
	}
	if a.json {
		if err := a.printJSON(verifyDoc(shown, rep)); err != nil {
			return err
		}
		if rep.State != verify.Complete {
			return exit(exitCodeOf(fault.Ledger))
		}
		return nil
	}
	if _, err := io.WriteString(a.out, a.verifyText(rep)); err != nil {
		return err
	}
	return ledgerFault(shown, rep)
}

// misplaced says why a ledger in the directory of a run is not that run's: a chain that holds says nothing of where it
// lies, and one run's ledger could be put in place of another's. It is "" for a ledger that lies anywhere else.
func (a *app) misplaced(shown string, rep verify.Report) string {
	dir := filepath.Dir(a.abs(shown))
	id := filepath.Base(dir)
	if rep.Entries == 0 || !state.ValidID(id) {
		return ""
	}
	if rep.Run != id {
		return "it is the ledger of run " + rep.Run + ", in the directory of run " + id
	}
	t, err := readTarget(dir, filepath.Join(dir, build.LockName), build.LockName)
	if err == nil && t.plan.Digest != rep.PlanDigest {
		return "it is of the plan " + rep.PlanDigest + ", and the plan kept with it is " + t.plan.Digest
	}
	return ""
}

// ledgerFault is nil for a complete ledger, else the failure that exits 7.
func ledgerFault(shown string, rep verify.Report) error {
	if rep.State == verify.Complete {
		return nil
	}
	return fault.New(fault.Ledger, "the ledger is %s: %s", rep.State, rep.Problem).At(shown, rep.Line, 0)
}

func (a *app) verifyText(rep verify.Report) string {
	if rep.Entries == 0 {
		return ""
	}
	style := a.out.good
	if rep.State != verify.Complete {
		style = a.out.fail
	}
	var b strings.Builder
	fmt.Fprintf(&b, "run %s: %s\n", term.Line(rep.Run), style.Render(string(rep.State)))
	fmt.Fprintf(&b, "  entries  %d hold, %s to %s\n", rep.Entries, stampUTC(rep.Started), stampUTC(rep.Ended))
	fmt.Fprintf(&b, "  plan     %s\n  head     %s\n", rep.PlanDigest, rep.Head)
	if !rep.Sealed {
		b.WriteString("  sealed   no: that no entry was cut off the end is shown only by a head kept elsewhere\n")
	}
	for _, o := range rep.Unknown {
		fmt.Fprintf(&b, "  outcome unknown: entry %d, %s", o.Seq, o.Type)
		if o.Step != "" {
			fmt.Fprintf(&b, " of step %s", term.Line(o.Step))
		}
		b.WriteString(", has no end\n")
	}
	return b.String()
}

func verifyDoc(shown string, rep verify.Report) verifyJSON {
	doc := verifyJSON{
		Schema: "joy.ledger-verify/1", File: shown, Run: rep.Run, State: string(rep.State), Line: rep.Line,
		Problem: rep.Problem, Entries: rep.Entries, Head: rep.Head, PlanDigest: rep.PlanDigest, Sealed: rep.Sealed,
		Unknown: []unknownJSON{},
	}
	if rep.Entries > 0 {
		doc.Started, doc.Ended = stampUTC(rep.Started), stampUTC(rep.Ended)
	}
	for _, o := range rep.Unknown {
		doc.Unknown = append(doc.Unknown, unknownJSON{o.Seq, o.Type, o.Step})
	}
	return doc
}

func stampUTC(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
