package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/verify"
)

// showOptions choose what of a ledger is shown, and how.
type showOptions struct {
	step  string
	types []string // an entry's type, or the part before its dot
	full  bool
	zone  *time.Location
}

func newLedgerShowCmd(a *app) *cobra.Command {
	var opts showOptions
	var tz string
	cmd := &cobra.Command{
		Use:   "show [RUN|FILE]",
		Short: "Show what happened in a run, entry by entry",
		Long: "Show what happened in a run, entry by entry. What programs, models and services said is shown with its\n" +
			"control characters escaped. Only entries that hold are shown: at a broken line it stops and ends with 7.\n" +
			"With --json the lines are printed as they stand in the ledger.",
		Example: "  joy ledger show\n" +
			"  joy ledger show 20261124-180300-k3fq2a --step render --full\n" +
			"  joy ledger show --type command --type egress.denied --tz Europe/Berlin",
		Args:              argsBetween(0, 1, "one run or file"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if opts.zone, err = time.LoadLocation(tz); err != nil {
				return usagef(cmd, "--tz %q is no time zone: write one such as Europe/Berlin, Local or UTC", tz)
			}
			for _, t := range opts.types {
				if !knownType(t) {
					return usagef(cmd, "--type %q is no type of entry, nor the first part of one", t)
				}
			}
			return a.ledgerShow(args, opts)
		},
	}
	cmd.Flags().StringVar(&opts.step, "step", "", "only entries of step `ID`")
	cmd.Flags().StringSliceVar(&opts.types, "type", nil, "only entries of `TYPE`, such as command.finished or command; may be repeated")
	cmd.Flags().BoolVar(&opts.full, "full", false, "everything an entry says")
	cmd.Flags().StringVar(&tz, "tz", "UTC", "show times in `ZONE`")
	return cmd
}

func knownType(t string) bool {
	for _, known := range verify.Types() {
		if first, _, _ := strings.Cut(known, "."); t == known || t == first {
			return true
		}
	}
	return false
}

func (o showOptions) wants(e verify.Entry) bool {
	if o.step != "" && e.Step != o.step {
		return false
	}
	for _, t := range o.types {
		if e.Type == t || strings.HasPrefix(e.Type, t+".") {
			return true
		}
	}
	return len(o.types) == 0
}

func (a *app) ledgerShow(args []string, opts showOptions) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	view := &ledgerView{app: a, opts: opts}
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		switch {
		case view.err != nil || !opts.wants(e):
		case a.json:
			_, view.err = io.WriteString(a.out, string(e.Raw)+"\n")
		default:
			view.entry(e)
		}
	}})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if err := view.close(); err != nil {
		return err
	}
	if rep.State == verify.Incomplete {
		a.warn("the ledger is incomplete: %s", rep.Problem)
		return nil
	}
	return ledgerFault(shown, rep)
}
