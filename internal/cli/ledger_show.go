package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
)

// showOptions choose what of a ledger is shown, and how.
type showOptions struct {
	account.Filter
	full bool
	zone *time.Location

	since, at, file string // as they were written
	follow          bool
	html            bool
	out             string // of html
	local           bool   // no zone was named
}

// quickAbove is the size, in bytes, from which on a ledger is no longer verified whole before a part of it is shown: it
// takes seconds then.
const quickAbove = 32 << 20

func newLedgerShowCmd(a *app) *cobra.Command {
	var opts showOptions
	var tz, grep string
	cmd := &cobra.Command{
		Use:   "show [RUN|FILE]",
		Short: "Show what happened in a run, entry by entry",
		Long: "Show what happened in a run, entry by entry. What programs, models and services said is shown with its\n" +
			"control characters escaped. Only entries that hold are shown: at a broken line it stops and ends with 7.\n" +
			"With --json the lines are printed as they stand in the ledger.\n\n" +
			"--at finds the run that was active at a time, and shows what was under way and what happened then. A time is\n" +
			"\"2026-11-24 18:03\", \"tuesday 18:03\", \"yesterday 9:00\", \"18:03\", \"10m ago\", or RFC 3339; it is of --tz, else\n" +
			"of this machine's zone. When no run was active it names the nearest before and after, and ends with 2.\n\n" +
			"--html tells the run in one file for a browser, which loads nothing: times, commands and what they printed, calls,\n" +
			"hosts, artifacts. It is written to -o, or to stdout when that is no terminal.",
		Example: "  joy ledger show 20261124-180300-k3fq2a --step render --type command --full\n" +
			"  joy ledger show --html -o run.html\n" +
			"  joy ledger show --at 'tuesday 18:03' --tz Europe/Berlin",
		Args:              argsBetween(0, 1, "one run or file"),
		ValidArgsFunction: a.completeRuns,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if err := opts.check(cmd, tz, grep); err != nil {
				return err
			}
			if err := opts.checkPage(cmd, a); err != nil {
				return err
			}
			return a.ledgerShow(cmd.Context(), args, opts)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.Step, "step", "", "only entries of step `ID`")
	flags.StringSliceVar(&opts.Types, "type", nil, "only entries of `TYPE`, such as command.finished or command; may be repeated")
	flags.StringVar(&grep, "grep", "", "only entries that `REGEXP` finds something in: type, step, names and values")
	flags.StringVar(&opts.since, "since", "", "only entries from `TIME` on; a time of day alone is of the day the run began")
	flags.StringVar(&opts.at, "at", "", "what was under way and what happened at `TIME`, in whichever run was active")
	flags.StringVar(&tz, "tz", "", "read and show times in `ZONE` (default: UTC, with --at and --html this machine's)")
	flags.BoolVar(&opts.full, "full", false, "everything an entry says, and all that commands printed")
	flags.StringVar(&opts.file, "file", "", "print the bundle file `PATH`, byte for byte as it ran")
	flags.BoolVar(&opts.follow, "follow", false, "go on while the run does; the ledger is looked at five times a second")
	flags.BoolVar(&opts.html, "html", false, "write one HTML file that tells the whole run")
	flags.StringVarP(&opts.out, "output", "o", "", "write the HTML to `FILE` (- for stdout)")
	cmd.MarkFlagsMutuallyExclusive("at", "file", "follow", "html")
	for _, part := range []string{"step", "type", "grep", "since", "full"} {
		cmd.MarkFlagsMutuallyExclusive("html", part)
	}
	cmd.MarkFlagsMutuallyExclusive("at", "since")
	cmd.MarkFlagsMutuallyExclusive("follow", "full")
	return cmd
}

// check reads what the flags say.
func (o *showOptions) check(cmd *cobra.Command, tz, grep string) (err error) {
	o.local = tz == ""
	if o.zone, err = time.LoadLocation(tz); err != nil {
		return usagef(cmd, "--tz %q is no time zone: write one such as Europe/Berlin, Local or UTC", tz)
	}
	for _, t := range o.Types {
		if !knownType(t) {
			return usagef(cmd, "--type %q is no type of entry, nor the first part of one", t)
		}
	}
	if grep != "" {
		if o.Grep, err = regexp.Compile(grep); err != nil {
			return usagef(cmd, "--grep %q is no regular expression: %w", grep, err)
		}
	}
	return nil
}

func knownType(t string) bool {
	f := account.Filter{Types: []string{t}}
	for _, known := range verify.Types() {
		if t != "" && f.Wants(verify.Entry{Type: known}) {
			return true
		}
	}
	return false
}

// narrow says whether a part of the ledger was asked for.
func (o showOptions) narrow() bool {
	return o.Step != "" || o.Grep != nil || len(o.Types) > 0 || !o.Since.IsZero()
}

func (a *app) ledgerShow(ctx context.Context, args []string, opts showOptions) error {
	switch {
	case opts.at != "":
		return a.ledgerAt(args, opts)
	case opts.file != "":
		return a.ledgerBundleFile(args, opts.file)
	case opts.html:
		return a.ledgerPage(args, opts)
	}
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	if opts.since != "" {
		if opts.Since, err = sinceTime(f, opts); err != nil {
			return err
		}
	}
	if opts.follow {
		return a.ledgerFollow(ctx, f, shown, opts)
	}
	view := &ledgerView{app: a, opts: opts, logs: a.logsBeside(shown)}
	if run := filepath.Dir(view.logs); state.ValidID(filepath.Base(run)) {
		view.gone = readMaintenance(state.OpenIndex(a.cfg.Dirs.State), run, filepath.Base(run), "").text()
	}
	info, err := f.Stat()
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if info.Size() > quickAbove && opts.narrow() {
		return a.showQuickly(f, shown, view)
	}
	rep, err := verify.Check(&unlessGone{f, a.out.gone}, verify.Options{Each: view.take})
	if errors.Is(err, errUnread) {
		return nil
	}
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if err := view.close(); err != nil {
		return err
	}
	if view.gone != "" {
		a.say("%s", term.Line(view.gone))
	}
	if view.failed && !a.json {
		a.say("next: %s", a.err.bold.Render(strings.TrimSpace("joy ledger explain "+term.Line(firstArg(args)))))
	}
	if rep.State == verify.Incomplete {
		a.sayIncomplete(shown, rep.Problem)
		return nil
	}
	return ledgerFault(shown, rep)
}

// sayIncomplete says why there is no end to show: a run that goes on has none yet.
func (a *app) sayIncomplete(shown, problem string) {
	if a.stillRuns(shown) {
		a.say("the run is still going on: with --follow, the rest is shown as it comes")
		return
	}
	a.warn("the ledger is incomplete: %s", problem)
}

// errUnread ends the reading of a ledger for somebody who went away, as head does.
var errUnread = errors.New("nobody reads what is shown")

// unlessGone is a ledger that ends when nobody reads what is shown of it.
type unlessGone struct {
	io.Reader
	gone func() bool
}

func (w *unlessGone) Read(b []byte) (int, error) {
	if w.gone() {
		return 0, errUnread
	}
	return w.Reader.Read(b)
}

// showQuickly shows a part of a large ledger without hashing the rest.
func (a *app) showQuickly(f *os.File, shown string, view *ledgerView) error {
	last, err := account.Scan(&unlessGone{f, a.out.gone}, view.opts.Filter, view.pass, func(e verify.Entry) error {
		view.show(e)
		return view.err
	})
	if cerr := view.close(); cerr != nil {
		return cerr
	}
	var bad *account.Broken
	switch {
	case errors.Is(err, errUnread):
		return nil
	case errors.As(err, &bad) && !bad.Torn:
		return fault.New(fault.Ledger, "the ledger is broken: %s", bad).At(shown, bad.Line, 0)
	case bad != nil:
		a.warn("the ledger is incomplete: %s", bad)
	case err != nil:
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	case last != "run.finished" && last != "run.sealed":
		a.sayIncomplete(shown, "there is no run.finished at its end")
	}
	a.say("the ledger is large: the entries shown hold; joy ledger verify checks the rest")
	return nil
}

// sinceTime reads --since and leaves f at its beginning.
func sinceTime(f io.ReadSeeker, opts showOptions) (time.Time, error) {
	base := time.Now()
	if account.IsClock(opts.since) {
		first, _, err := account.Ends(f)
		if err != nil {
			return time.Time{}, fault.New(fault.Ledger, "the ledger cannot be read: %s", err)
		}
		t := first.Time.In(opts.zone)
		base = time.Date(t.Year(), t.Month(), t.Day(), 23, 59, 59, 0, opts.zone)
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return time.Time{}, fault.Wrap(fault.Platform, err, "read ledger")
		}
	}
	w, err := account.ParseWhen(opts.since, base, opts.zone)
	if err != nil {
		return time.Time{}, usage(fmt.Errorf("--since: %w", err), "run %q", "joy ledger show --help")
	}
	return w.From, nil
}
