package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/term"
)

// diffJSON is the document of `joy ledger diff --json`.
type diffJSON struct {
	Schema        string               `json:"schema"`
	A             string               `json:"a"` // run ids
	B             string               `json:"b"`
	Same          bool                 `json:"same"` // no differences; exit 0
	Differences   []account.Difference `json:"differences"`
	Circumstances []account.Difference `json:"circumstances"` // not counted
	MS            []account.Took       `json:"ms"`            // not counted
}

func newLedgerDiffCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "diff [A [B]]",
		Short: "Show in what two runs of a plan differ",
		Long: "Show in what two runs differ: plan, inputs, commands and how they ended, what they printed, calls and answers,\n" +
			"egress, artifacts, results. Without B the latest run is B, without A the one before it is A.\n\n" +
			"It ends with 0 when nothing differs, with 1 when something does. Times, durations, ids, tokens, addresses and\n" +
			"the order of steps that run side by side are never counted; the machine and the programs (provider,\n" +
			"accelerator, start, joy, user) are shown apart and not counted.",
		Example: "  joy ledger diff\n" +
			"  joy ledger diff 20261124-180300-k3fq2a latest\n" +
			"  joy ledger diff yesterday.jsonl today.jsonl --json",
		Args:              argsBetween(0, 2, "two runs or files"),
		ValidArgsFunction: a.completeRuns,
		RunE:              func(_ *cobra.Command, args []string) error { return a.ledgerDiff(args) },
	}
}

func (a *app) ledgerDiff(args []string) error {
	if len(args) < 2 {
		var err error
		if args, err = a.lastTwo(args); err != nil {
			return err
		}
	}
	runA, repA, err := a.accountOf(args[0])
	if err != nil {
		return err
	}
	runB, repB, err := a.accountOf(args[1])
	if err != nil {
		return err
	}
	c := account.Compare(runA, runB)
	if a.json {
		err = a.printJSON(diffJSON{"joy.ledger-diff/1", repA.Run, repB.Run, len(c.Differences) == 0, c.Differences, c.Circumstances, c.Took})
	} else {
		_, err = io.WriteString(a.out, a.runDiffText(repA, repB, c))
	}
	if err == nil && len(c.Differences) > 0 {
		err = exit(1)
	}
	return err
}

// lastTwo completes what was named with the latest runs.
func (a *app) lastTwo(args []string) ([]string, error) {
	dir, err := a.existingState(a.dir)
	if err != nil {
		return nil, err
	}
	latest, err := dir.Resolve("")
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return []string{args[0], latest.ID}, nil
	}
	runs, err := dir.Runs()
	if err == nil && len(runs) < 2 {
		err = fault.New(fault.Input, "there is one run, and nothing to hold it against").WithHint("name two runs or ledger files")
	}
	if err != nil {
		return nil, err
	}
	return []string{runs[1].ID, runs[0].ID}, nil
}

// accountOf reads a run. A broken ledger is not compared: nobody knows which of it happened.
func (a *app) accountOf(ref string) (*account.Run, verify.Report, error) {
	f, shown, err := a.openLedger([]string{ref})
	if err != nil {
		return nil, verify.Report{}, err
	}
	defer f.Close()
	run := account.NewRun()
	rep, err := verify.Check(f, verify.Options{Each: run.Add})
	switch {
	case err != nil:
		err = fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	case rep.State == verify.Broken:
		err = ledgerFault(shown, rep)
	case rep.State == verify.Incomplete:
		a.warn("%s is incomplete: %s", term.Line(shown), rep.Problem)
	}
	return run, rep, err
}

// runDiffText shows differences step by step, with the marks of plan diff.
func (a *app) runDiffText(repA, repB verify.Report, c account.Comparison) string {
	var b strings.Builder
	out := a.out
	fmt.Fprintf(&b, "A  %s  %s\nB  %s  %s\n", term.Line(repA.Run), stampUTC(repA.Started), term.Line(repB.Run), stampUTC(repB.Started))
	step := ""
	for i, d := range c.Differences {
		if d.Step != step || i == 0 {
			step = d.Step
			b.WriteString("\n" + out.bold.Render(stepHeading(step)) + "\n")
		}
		a.runDiffLine(&b, d)
	}
	if len(c.Circumstances) > 0 {
		b.WriteString("\n" + out.dim.Render("circumstances (not counted)") + "\n")
		for _, d := range c.Circumstances {
			d.What = ""
			a.runDiffLine(&b, d)
		}
	}
	b.WriteString("\n" + out.dim.Render("durations (not counted)") + "\n")
	for _, t := range c.Took {
		fmt.Fprintf(&b, "    %s  %s → %s\n", term.Line(stepHeading(t.Step)), tookText(t.A), tookText(t.B))
	}
	b.WriteString("\n")
	if len(c.Differences) == 0 {
		b.WriteString(out.good.Render("same") + ": nothing differs but times, ids and tokens\n")
	} else {
		b.WriteString(plural(len(c.Differences), "difference") + "\n")
	}
	return b.String()
}

func (a *app) runDiffLine(b *strings.Builder, d account.Difference) {
	name := strings.TrimSpace(d.What + " " + d.Name)
	mark, text, style := "~", diffValue(d.A)+" → "+diffValue(d.B), &a.out.warn
	switch d.In {
	case "a":
		mark, text, style = "-", diffValue(d.A), &a.out.fail
	case "b":
		mark, text, style = "+", diffValue(d.B), &a.out.good
	}
	line := "  " + style.Render(mark) + " " + term.Line(name)
	if long := len(text) > 100 || a.out.tty && ansi.StringWidth(line+"  "+text) > a.out.width; long && d.In == "both" {
		b.WriteString(line + "\n      A " + diffValue(d.A) + "\n      B " + diffValue(d.B) + "\n")
		return
	}
	b.WriteString(line + "  " + text + "\n")
}

// diffValue is a value on one line, its digests shortened: --json has them whole.
func diffValue(v string) string {
	if v == "" {
		return "none"
	}
	return term.Line(bareDigests(v))
}

func stepHeading(step string) string {
	if step == "" {
		return "run"
	}
	return "step " + term.Line(step)
}

func tookText(ms int64) string {
	if ms < 0 {
		return "unknown"
	}
	return short(time.Duration(ms) * time.Millisecond)
}
