package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// explainJSON is the document of `joy ledger explain --json`.
type explainJSON struct {
	Schema string `json:"schema"`
	account.Diagnosis
}

func newLedgerExplainCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [RUN|FILE]",
		Short: "Say why a run failed, with the entries that show it",
		Long: "Say why a run failed: its failure_kind and category (spec, connection, input, credits, platform, unknown), the\n" +
			"entries that show it, what to do next, and how sure that is. When the ledger does not tell, it says \"unsure\" and\n" +
			"what is missing. It rests on the record alone: nothing is started or contacted. It ends with 0 when it could read\n" +
			"the ledger, with 7 when that is broken.",
		Example: "  joy ledger explain\n" +
			"  joy ledger explain 20261124-180300-k3fq2a --json",
		Args:              argsBetween(0, 1, "one run or file"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(_ *cobra.Command, args []string) error { return a.ledgerExplain(args) },
	}
}

func (a *app) ledgerExplain(args []string) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	words := newLastWords(a.logsBeside(shown))
	c := account.Case{Live: a.stillRuns(shown), LastWords: words.said, Says: phrase}
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		words.add(e)
		c.Add(e)
	}})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if rep.State == verify.Broken {
		return ledgerFault(shown, rep)
	}
	c.Run = rep.Run
	d := c.Diagnose(rep.Unknown)
	if a.json {
		return a.printJSON(explainJSON{"joy.ledger-explain/1", d})
	}
	_, err = io.WriteString(a.out, a.explainText(d))
	return err
}

// explainText tells a diagnosis: what, why, what shows it, what next.
func (a *app) explainText(d account.Diagnosis) string {
	var b strings.Builder
	out := a.out
	outcome := d.Outcome
	if outcome == "" {
		outcome = "has no end on record"
	}
	fmt.Fprintf(&b, "run %s %s\n", term.Line(d.Run), a.outcomeStyle(outcome).Render(term.Line(outcome)))
	field := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", name, indentText(term.Escape(text), 15))
		}
	}
	field("step", d.Step)
	if d.FailureKind != "" || d.Category != "" {
		kind := d.FailureKind
		if kind == "" {
			kind = "none on record"
		}
		field("failure_kind", kind)
		field("category", d.Category)
	}
	field("root cause", d.RootCause)
	field("unsure", d.UnsureReason)
	field("confidence", d.Confidence)
	if len(d.Evidence) > 0 {
		b.WriteString("\n" + out.bold.Render("evidence") + "\n")
	}
	for _, e := range d.Evidence {
		lead := fmt.Sprintf("  entry %d  ", e.Seq)
		b.WriteString(lead + out.fitted(term.Line(e.Type+"  "+strings.TrimSpace(e.Step+"  "+e.Says)), len(lead), true) + "\n")
	}
	if len(d.Skipped) > 0 {
		fmt.Fprintf(&b, "  skipped because of it: %s\n", term.Line(strings.Join(d.Skipped, ", ")))
	}
	fmt.Fprintf(&b, "\n%s %s\n", out.note.Render("next:"), term.Line(d.Remediation))
	if d.SpecChange != "" {
		b.WriteString("\nin joy.yaml, when that is what you want:\n  " + indentText(term.Escape(strings.TrimSpace(d.SpecChange)), 2) + "\n")
	}
	return b.String()
}

func indentText(text string, columns int) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", columns))
}

// lastWords finds the last line that a command wrote to stderr, in the output that is kept beside the ledger.
type lastWords struct {
	dir  string
	nth  map[int64]int    // seq of command.started: which command of its step it is; of those that go on, and the last that ended
	of   map[string]int   // commands of a step so far; of the first maxCounted steps
	last map[string]int64 // seq of the command.started of the last that ended, by step
}

func newLastWords(dir string) *lastWords {
	return &lastWords{dir: dir, nth: map[int64]int{}, of: map[string]int{}, last: map[string]int64{}}
}

func (w *lastWords) add(e verify.Entry) {
	switch e.Type {
	case "command.started":
		if n, known := w.of[e.Step]; (known || len(w.of) < maxCounted) && len(w.nth) < maxCounted {
			w.of[e.Step] = n + 1
			w.nth[e.Seq] = n + 1
		}
	case "command.finished":
		if of, _ := e.Int("of"); w.nth[of] > 0 {
			delete(w.nth, w.last[e.Step])
			w.last[e.Step] = of
		}
	}
}

// tailBytes is how much of the end of stderr is looked at.
const tailBytes = 4 << 10

func (w *lastWords) said(end verify.Entry) (string, bool) {
	seq, _ := end.Int("of")
	f, err := openLog(w.dir, end.Step, w.nth[seq], "stderr")
	if err != nil {
		return "", false
	}
	defer f.Close()
	if problem, err := kept(f, end, "stderr"); err != nil || problem != "" {
		return "", false
	}
	return finalLine(f)
}

// finalLine is the last line of f that is not empty.
func finalLine(f *os.File) (string, bool) {
	info, err := f.Stat()
	if err != nil {
		return "", false
	}
	b := make([]byte, min(info.Size(), tailBytes))
	if _, err := f.ReadAt(b, info.Size()-int64(len(b))); err != nil {
		return "", false
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	words := strings.ToValidUTF8(string(bytes.TrimSpace(lines[len(lines)-1])), "\uFFFD")
	return words, words != ""
}
