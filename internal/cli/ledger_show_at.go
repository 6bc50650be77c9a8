package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/term"
)

// extent is when a run was active.
type extent struct {
	run         state.Run
	file        string // of the ledger, when it is not a run of the project
	begun, last time.Time
	live        bool
}

// activeIn says whether the run was active at some time of w. Of a run that goes on, the end is not known yet.
func (x extent) activeIn(w account.When) bool {
	return !x.begun.After(w.To) && (x.live || !x.last.Before(w.From))
}

// ledgerAt shows the run that was active at a time.
func (a *app) ledgerAt(args []string, opts showOptions) error {
	if opts.local {
		opts.zone = time.Local
	}
	when, err := account.ParseWhen(opts.at, time.Now(), opts.zone)
	if err == nil && when.Day {
		err = fmt.Errorf("%q is a whole day: add a time, as in %q", opts.at, opts.at+" 18:03")
	}
	if err != nil {
		return usage(fmt.Errorf("--at: %w", err), "run %q", "joy ledger show --help")
	}
	extents, err := a.extents(args)
	if err != nil {
		return err
	}
	var active []extent
	var before, after *extent
	for _, x := range extents { // the newest first
		switch {
		case x.activeIn(when):
			active = append([]extent{x}, active...)
		case x.begun.After(when.To):
			after = &x
		case before == nil || x.last.After(before.last):
			before = &x
		}
	}
	if len(active) == 0 {
		return a.nobodyAt(when, opts.zone, before, after)
	}
	return a.showActive(active, when, opts)
}

// showActive prints what was under way in the runs, the first that began first.
func (a *app) showActive(active []extent, when account.When, opts showOptions) error {
	doc := atJSON{Schema: "joy.ledger-at/1", From: stampUTC(when.From), To: stampUTC(when.To), Runs: []atRunJSON{}}
	var failed error
	for i, x := range active {
		m, rep, err := a.momentOf(x, when)
		if err != nil {
			return err
		}
		if a.json {
			doc.Runs = append(doc.Runs, m.json(rep))
		} else if err := a.printMoment(m, rep, opts, i > 0); err != nil {
			return err
		}
		if rep.State == verify.Broken && failed == nil {
			failed = ledgerFault(a.relative(x.path()), rep)
		}
	}
	if a.json {
		if err := a.printJSON(doc); err != nil {
			return err
		}
	}
	return failed
}

func (x extent) path() string {
	if x.file != "" {
		return x.file
	}
	return filepath.Join(x.run.Dir, ledgerFile)
}

func (x extent) open() (*os.File, error) {
	if x.file != "" {
		return openNamed(x.file)
	}
	return openRunLedger(x.run)
}

// extents are those of the project's runs, or of the one that args name, the newest first. A run without a ledger that
// can be read has none, and is said to be passed over.
func (a *app) extents(args []string) ([]extent, error) {
	if len(args) > 0 && a.namesFile(args[0]) {
		x := extent{file: a.abs(args[0])}
		return []extent{x}, x.measure(nil)
	}
	dir, err := a.existingState(a.dir)
	if err != nil {
		return nil, err
	}
	runs, err := dir.Runs()
	if len(args) > 0 && err == nil {
		var run state.Run
		_, run, err = a.resolveRun(args[0])
		runs = []state.Run{run}
	}
	if err == nil && len(runs) == 0 {
		_, err = dir.Resolve("") // says that there is none, and what to do
	}
	if err != nil {
		return nil, err
	}
	live := a.liveRuns(dir)
	var list []extent
	for _, run := range runs {
		x := extent{run: run}
		if err := x.measure(live); err != nil {
			a.warn("%s", term.Line(err.Error()))
			continue
		}
		list = append(list, x)
	}
	return list, nil
}

// measure reads when the run began and when its last entry was written, without reading what is between.
func (x *extent) measure(live map[string]bool) error {
	f, err := x.open()
	if err != nil {
		return fault.Wrap(fault.Input, err, "open ledger")
	}
	defer f.Close()
	first, last, err := account.Ends(f)
	if err != nil {
		return fault.New(fault.Ledger, "the ledger cannot be read: %s", err).At(x.path(), 0, 0)
	}
	x.begun, x.last, x.live = first.Time, last.Time, live[first.Run]
	return nil
}

// liveRuns are the runs of dir whose joy still runs.
func (a *app) liveRuns(dir *state.Dir) map[string]bool {
	list, _ := state.OpenIndex(a.cfg.Dirs.State).List() // a run that the index does not name is not live, as far as anybody knows
	live := map[string]bool{}
	for _, l := range list {
		if l.StateDir == dir.Path() && l.Alive() {
			live[l.Run] = true
		}
	}
	return live
}

// momentOf reads a run's ledger whole: only entries that hold are told of.
func (a *app) momentOf(x extent, when account.When) (*runMoment, verify.Report, error) {
	f, err := x.open()
	if err != nil {
		return nil, verify.Report{}, err
	}
	defer f.Close()
	m := &runMoment{extent: x, Moment: account.Moment{When: when}, logs: a.logsBeside(x.path())}
	rep, err := verify.Check(f, verify.Options{Each: m.add})
	if err != nil {
		err = fault.Wrap(fault.Platform, err, "read ledger").At(x.path(), 0, 0)
	}
	return m, rep, err
}

// nobodyAt is the answer when no run was active.
func (a *app) nobodyAt(when account.When, zone *time.Location, before, after *extent) error {
	e := fault.New(fault.Input, "no run was active at %s", whenText(when, zone))
	switch {
	case before != nil && after != nil:
		e.Hint = "before it " + before.said(zone) + "; after it " + after.said(zone)
	case before != nil:
		e.Hint = "the last before it: " + before.said(zone)
	case after != nil:
		e.Hint = "the first after it: " + after.said(zone)
	}
	return e
}

func (x extent) said(zone *time.Location) string {
	name := x.run.ID
	if name == "" {
		name = x.file
	}
	return fmt.Sprintf("%s, from %s to %s", name, x.begun.In(zone).Format(time.DateTime), x.last.In(zone).Format(time.DateTime))
}

// whenText writes a moment as exactly as it was given.
func whenText(w account.When, zone *time.Location) string {
	layout := "2006-01-02 15:04"
	switch length := w.To.Sub(w.From); {
	case length < 500*time.Millisecond:
		layout += ":05.000"
	case length < time.Minute-time.Millisecond:
		layout += ":05"
	}
	return w.From.In(zone).Format(layout + " MST")
}
