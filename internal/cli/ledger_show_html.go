package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/page"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// checkPage refuses what does not go with --html, and a page that would flood a terminal.
func (o *showOptions) checkPage(cmd *cobra.Command, a *app) error {
	switch {
	case !o.html && cmd.Flags().Changed("output"):
		return usagef(cmd, "-o is the file of --html")
	case o.html && a.json:
		return usagef(cmd, "--html and --json are two forms of the same: choose one")
	case o.html && o.out == "" && a.out.tty:
		return usagef(cmd, "the page is for a browser: write it to a file with -o run.html")
	}
	return nil
}

// ledgerPage writes the page of a run. A broken ledger has one too, of the entries that hold: it says so, and so does
// the exit code.
func (a *app) ledgerPage(args []string, opts showOptions) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	dir := filepath.Dir(a.abs(filepath.FromSlash(shown)))
	var run page.Page
	words := newLastWords(a.logsBeside(shown))
	why := account.Case{Live: a.stillRuns(shown), LastWords: words.said, Says: phrase}
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		words.add(e)
		why.Add(e)
		run.Add(e)
	}})
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	if rep.Entries == 0 {
		return ledgerFault(shown, rep)
	}
	v, err := a.judgeReport(rep, shown, verifyOptions{})
	if err != nil {
		return err
	}
	why.Run = rep.Run
	rec := page.Record{
		Verdict: page.Verdict{Verdict: v.Verdict}, Why: why.Diagnose(rep.Unknown), Live: why.Live, Zone: opts.zone,
		Output: func(step string, nth int, stream string) (io.ReadCloser, error) {
			return openLog(words.dir, step, nth, stream)
		},
	}
	if opts.local {
		rec.Zone = time.Local
	}
	if state.ValidID(filepath.Base(dir)) {
		rec.Gone = readMaintenance(state.OpenIndex(a.cfg.Dirs.State), dir, filepath.Base(dir), "").text()
	}
	for _, p := range v.proofs {
		rec.Verdict.Proofs = append(rec.Verdict.Proofs, p.Text)
	}
	if t, err := readTarget(dir, filepath.Join(dir, build.LockName), build.LockName); err == nil {
		rec.Plan = t.plan
	}
	if objects := objectsOf(dir); objects != "" {
		if store, err := artifact.OpenExisting(objects); err == nil { // without one the page says of each that it is not kept
			defer store.Close()
			rec.Object = store.Open
		}
	}
	if err := a.writePage(&run, rec, opts.out); err != nil {
		return err
	}
	if v.State == verify.Incomplete {
		a.warn("the ledger is incomplete: %s", v.Problem)
		return nil
	}
	return ledgerFault(shown, v.Report)
}

// objectsOf is where the objects of a run lie whose directory is dir, or "" when dir is no place that a run has.
func objectsOf(dir string) string {
	runs := filepath.Dir(dir)
	if !state.ValidID(filepath.Base(dir)) || filepath.Base(runs) != "runs" {
		return ""
	}
	return filepath.Join(filepath.Dir(runs), "objects")
}

// writePage writes to a file that only its owner may read, as the run's directory is, or to stdout.
func (a *app) writePage(run *page.Page, rec page.Record, out string) error {
	if toStdout(out) {
		return run.Write(a.out.raw, rec)
	}
	size, err := a.writeWhole(a.abs(out), 0o600, func(w io.Writer) error { return run.Write(w, rec) })
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "%s %s\n", out, term.Size(size))
	return err
}
