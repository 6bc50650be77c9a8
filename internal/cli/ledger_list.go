package cli

import (
	"strconv"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// runJSON is one run of `joy ledger list --json`.
type runJSON struct {
	Run     string `json:"run"`
	Agent   string `json:"agent"`
	Started string `json:"started,omitempty"`
	MS      int64  `json:"ms"`      // from the first entry to the last
	Outcome string `json:"outcome"` // as run.finished has it; "" when it did not finish
	Entries int64  `json:"entries"`
	Ledger  string `json:"ledger"` // complete | incomplete | broken | missing
	Line    int    `json:"line,omitempty"`
	Problem string `json:"problem,omitempty"`
}

func newLedgerListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the runs of the project, the latest first",
		Args:  noArgs,
		Example: "  joy ledger list\n" +
			"  joy ledger list --json",
		RunE: func(*cobra.Command, []string) error { return a.ledgerList() },
	}
}

func (a *app) ledgerList() error {
	dir, err := a.existingState(a.dir)
	if err != nil {
		return err
	}
	runs, err := dir.Runs()
	if err != nil {
		return err
	}
	list := make([]runJSON, 0, len(runs))
	for _, run := range runs {
		r, err := summarize(run)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	if a.json {
		return a.printJSON(struct {
			Schema string    `json:"schema"`
			Runs   []runJSON `json:"runs"`
		}{"joy.ledger-list/1", list})
	}
	t := a.out.newTable("RUN", "AGENT", "STARTED", "TOOK", "OUTCOME", "ENTRIES", "LEDGER")
	for _, r := range list {
		cells := plain(r.Run, r.Agent, r.Started, "", r.Outcome, strconv.FormatInt(r.Entries, 10), r.Ledger)
		if r.Entries > 0 {
			cells[3].text = (time.Duration(r.MS) * time.Millisecond).String()
		}
		cells[4].style, cells[6].style = a.outcomeStyle(r.Outcome), a.outcomeStyle(r.Ledger)
		t.row(cells...)
	}
	return t.print()
}

// outcomeStyle colours how something ended.
func (a *app) outcomeStyle(outcome string) *lipgloss.Style {
	switch outcome {
	case "succeeded", "complete":
		return &a.out.good
	case "interrupted", "incomplete":
		return &a.out.warn
	}
	return &a.out.fail
}

// summarize verifies a run's ledger on the way: a list that shows an outcome must have read it from a chain that holds.
func summarize(run state.Run) (runJSON, error) {
	r := runJSON{Run: run.ID}
	f, err := openRunLedger(run)
	if fault.KindOf(err) == fault.Ledger && err != nil {
		r.Ledger, r.Problem = "missing", err.Error()
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer f.Close()
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		switch e.Type {
		case "run.started":
			r.Agent = e.String("agent")
		case "run.finished":
			r.Outcome = e.String("outcome")
		}
	}})
	if err != nil {
		return r, fault.Wrap(fault.Platform, err, "read the ledger of run %s", run.ID)
	}
	r.Entries, r.Ledger, r.Line, r.Problem = rep.Entries, string(rep.State), rep.Line, rep.Problem
	if rep.Entries > 0 {
		r.Started, r.MS = stampUTC(rep.Started), rep.Ended.Sub(rep.Started).Milliseconds()
	}
	return r, nil
}
