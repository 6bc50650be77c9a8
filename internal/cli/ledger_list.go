package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/state"
)

// runJSON is one run of `joy ledger list --json`.
type runJSON struct {
	Run     string `json:"run"`
	Agent   string `json:"agent"`
	Started string `json:"started,omitempty"`
	MS      int64  `json:"ms"`      // from the first entry to the last
	Outcome string `json:"outcome"` // as run.finished has it; "" when it did not finish
	Failure string `json:"failure_kind,omitempty"`
	Entries int64  `json:"entries"`
	Ledger  string `json:"ledger"` // complete | unsealed | incomplete | broken | missing
	Line    int    `json:"line,omitempty"`
	Problem string `json:"problem,omitempty"`
	Since   string `json:"since,omitempty"` // what joy removed of the run after its end, and who asked for it

	live bool // it has no outcome yet
}

// listOptions choose runs. The zero value takes all.
type listOptions struct {
	agent, outcome, failure string
	since, until            string // as they were written
	from, to                time.Time
	zone                    *time.Location
	limit                   int
}

// unfinished is what --outcome calls a run that has no run.finished, or none that holds.
const unfinished = "unfinished"

var (
	outcomes     = []string{"succeeded", "failed", "interrupted", unfinished}
	failureKinds = []string{"agent", "input", "connection", "policy", "platform"}
)

func newLedgerListCmd(a *app) *cobra.Command {
	var opts listOptions
	var tz string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the runs of the project, the latest first",
		Long: "List the runs of the project, the latest first. Each ledger is held against its seal and your index of runs; a\n" +
			"large one is not read whole for it, which joy ledger verify does. The times of --since and --until are written as for joy ledger show --at.",
		Args: noArgs,
		Example: "  joy ledger list\n" +
			"  joy ledger list --outcome failed --failure-kind connection --since monday\n" +
			"  joy ledger list --agent weekly-report --limit 10 --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opts.check(cmd, tz); err != nil {
				return err
			}
			return a.ledgerList(opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.agent, "agent", "", "only runs of the agent `NAME`")
	flags.StringVar(&opts.outcome, "outcome", "", "only runs that ended so: succeeded, failed, interrupted or unfinished")
	flags.StringVar(&opts.failure, "failure-kind", "", "only runs that failed by `KIND`: agent, input, connection, policy or platform")
	flags.StringVar(&opts.since, "since", "", "only runs that began at `TIME` or later")
	flags.StringVar(&opts.until, "until", "", "only runs that began at `TIME` or earlier")
	flags.StringVar(&tz, "tz", "Local", "read times in `ZONE`")
	flags.IntVar(&opts.limit, "limit", 0, "at most `N` runs; 0 for all")
	return cmd
}

// check reads what the flags say.
func (o *listOptions) check(cmd *cobra.Command, tz string) (err error) {
	if o.zone, err = time.LoadLocation(tz); err != nil {
		return usagef(cmd, "--tz %q is no time zone: write one such as Europe/Berlin, Local or UTC", tz)
	}
	if o.outcome != "" && !slices.Contains(outcomes, o.outcome) {
		return usagef(cmd, "--outcome %q is none of %s", o.outcome, strings.Join(outcomes, ", "))
	}
	if o.failure != "" && !slices.Contains(failureKinds, o.failure) {
		return usagef(cmd, "--failure-kind %q is none of %s", o.failure, strings.Join(failureKinds, ", "))
	}
	if o.limit < 0 {
		return usagef(cmd, "--limit %d is below 0", o.limit)
	}
	for _, f := range []struct {
		flag, text string
		set        func(account.When)
	}{
		{"--since", o.since, func(w account.When) { o.from = w.From }},
		{"--until", o.until, func(w account.When) { o.to = w.To }},
	} {
		if f.text == "" {
			continue
		}
		w, err := account.ParseWhen(f.text, time.Now(), o.zone)
		if err != nil {
			return usagef(cmd, "%s: %w", f.flag, err)
		}
		f.set(w)
	}
	return nil
}

// mayBegin says whether a run could have begun in the time asked for, by its id, which has the second: most ledgers need
// not be read then.
func (o listOptions) mayBegin(run state.Run) bool {
	t, err := time.Parse("20060102-150405", run.ID[:min(len(run.ID), 15)])
	return err != nil || !t.Add(time.Minute).Before(o.from) && (o.to.IsZero() || !t.Add(-time.Minute).After(o.to))
}

func (o listOptions) wants(r runJSON) bool {
	outcome := r.Outcome
	if outcome == "" {
		outcome = unfinished
	}
	switch {
	case o.agent != "" && r.Agent != o.agent, o.outcome != "" && outcome != o.outcome, o.failure != "" && r.Failure != o.failure:
		return false
	case o.from.IsZero() && o.to.IsZero():
		return true
	}
	began, err := time.Parse(time.RFC3339, r.Started)
	return err == nil && !began.Before(o.from) && (o.to.IsZero() || !began.After(o.to))
}

func (a *app) ledgerList(opts listOptions) error {
	dir, err := a.existingState(a.dir)
	if err != nil {
		return err
	}
	runs, err := dir.Runs()
	if err != nil {
		return err
	}
	list := []runJSON{}
	for _, run := range runs {
		if opts.limit > 0 && len(list) == opts.limit {
			break
		}
		if !opts.mayBegin(run) {
			continue
		}
		r, err := a.summarize(run)
		if err != nil {
			return err
		}
		if opts.wants(r) {
			list = append(list, r)
		}
	}
	if a.json {
		return a.printJSON(struct {
			Schema string    `json:"schema"`
			Runs   []runJSON `json:"runs"`
		}{"joy.ledger-list/1", list})
	}
	return a.printRuns(list)
}

// printRuns has first what a narrow terminal must not cut off.
func (a *app) printRuns(list []runJSON) error {
	t := a.out.newTable("RUN", "OUTCOME", "LEDGER", "TOOK", "AGENT", "STARTED (UTC)", "ENTRIES")
	for _, r := range list {
		outcome := r.Outcome
		switch {
		case r.live && outcome == "":
			outcome = "going on"
		case r.Failure != "" && outcome != runner.Interrupted: // a person's Ctrl-C is nobody's failure
			outcome += " (" + r.Failure + ")"
		}
		cells := plain(r.Run, outcome, r.Ledger, "", r.Agent, "", strconv.FormatInt(r.Entries, 10))
		if r.Since != "" {
			cells[2].text += ", " + strings.Join(strings.Fields(r.Since)[:4], " ") // bodies removed on DATE
		}
		if r.Entries > 0 {
			cells[3].text = short(time.Duration(r.MS) * time.Millisecond)
			cells[5].text = strings.Replace(r.Started[:len(time.DateTime)], "T", " ", 1)
		}
		cells[1].style, cells[2].style = a.outcomeStyle(outcome), a.outcomeStyle(r.Ledger)
		t.row(cells...)
	}
	return t.print()
}

// outcomeStyle colours how something ended.
func (a *app) outcomeStyle(outcome string) *lipgloss.Style {
	switch outcome {
	case "succeeded", "complete":
		return &a.out.good
	case "interrupted", "incomplete", "going on", unsealed:
		return &a.out.warn
	}
	return &a.out.fail
}
