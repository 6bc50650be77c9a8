package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/term"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/notekey"
)

// exportFormat is the value of --format.
type exportFormat struct{ export.Format }

func (f *exportFormat) String() string { return f.Name }
func (f *exportFormat) Type() string   { return "FORMAT" }

func (f *exportFormat) Set(name string) error {
	format, ok := export.Find(name)
	if name == replayFormat.Name {
		format, ok = replayFormat, true
	}
	if !ok {
		return fmt.Errorf("there is no such format: write %s", strings.Join(exportNames(), ", "))
	}
	f.Format = format
	return nil
}

// exportedJSON tells of an export that went into a file. Size is in bytes.
type exportedJSON struct {
	Schema string `json:"schema"`
	Run    string `json:"run"`
	State  string `json:"state"` // of the ledger: complete | incomplete
	Format string `json:"format"`
	File   string `json:"file"`
	Size   int64  `json:"size"`
}

func newLedgerExportCmd(a *app) *cobra.Command {
	var format exportFormat
	var out, seal string
	var about strings.Builder
	for _, f := range append(slices.Clone(export.Formats), replayFormat) {
		fmt.Fprintf(&about, "  %-8s %s\n", f.Name, f.About)
	}
	cmd := &cobra.Command{
		Use:   "export [RUN|FILE] --format FORMAT",
		Short: "Tell a run in the format of another tool",
		Long: "Tell a run in the format of another tool:\n\n" + about.String() + "\n" +
			"The ledger is verified first: a broken one is not exported, and ends with 7. Of an incomplete one the export says\n" +
			"so, and there is no statement about it.",
		Args:              argsBetween(0, 1, "one run or file"),
		ValidArgsFunction: a.completeRuns,
		Example: "  joy ledger export --format csv -o run.csv\n" +
			"  joy ledger export latest --format in-toto -o statement.json\n" +
			"  joy ledger export 20261124-180300-k3fq2a --format otlp | curl --json @- http://localhost:4318/v1/traces",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case format.Name == "":
				return usagef(cmd, "say which format: --format %s", strings.Join(exportNames(), ", "))
			case a.json && toStdout(out) && !format.JSON:
				return usagef(cmd, "%s is no JSON: with --json, name a file with -o", format.Name)
			}
			return a.ledgerExport(args, format.Format, seal, out)
		},
	}
	cmd.Flags().Var(&format, "format", "what to write: "+strings.Join(exportNames(), ", "))
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` (- is stdout)")
	cmd.Flags().StringVar(&seal, "seal", "", "take the seal from `FILE` instead of seal.note beside the ledger")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exportNames(), cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that is not there
	return cmd
}

func exportNames() []string { return append(export.Names(), replayFormat.Name) }

func toStdout(out string) bool { return out == "" || out == "-" }

// ledgerExport reads the ledger twice: nothing is written before all of it has been verified.
func (a *app) ledgerExport(args []string, format export.Format, seal, out string) error {
	f, shown, err := a.openLedger(args)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	body := io.NewSectionReader(f, 0, info.Size()) // a run may go on meanwhile
	v, err := a.judgeLedger(body, shown, verifyOptions{seal: seal})
	if err != nil {
		return err
	}
	if v.State == verify.Broken || format.Whole && v.State != verify.Complete {
		return ledgerFault(shown, v.Report)
	}
	run, err := a.exported(v, filepath.Dir(a.abs(shown)), seal)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error { return a.exportTo(w, body, format, run, shown) }
	if format.Name == replayFormat.Name {
		write = func(w io.Writer) error { return a.exportReplay(w, body, run, filepath.Dir(a.abs(shown))) }
	}
	var size int64
	if toStdout(out) {
		err = write(a.out.raw) // the formats see to what a terminal would act on
	} else {
		size, err = a.writeWhole(a.abs(out), 0o644, write)
	}
	if err != nil {
		return err
	}
	if v.State == verify.Incomplete {
		a.warn("the ledger is incomplete: %s", v.Problem)
	}
	switch {
	case toStdout(out):
		return nil
	case a.json:
		return a.printJSON(exportedJSON{"joy.ledger-exported/1", v.Run, string(v.State), format.Name, out, size})
	}
	return a.out.Printf("%s tells run %s as %s, %s", out, v.Run, format.Name, term.Size(size))
}

// exportTo reads the ledger again, and refuses one that is no longer what was judged.
func (a *app) exportTo(w io.Writer, body io.ReadSeeker, format export.Format, run export.Run, shown string) error {
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	}
	ew, err := format.Open(w, run)
	if err != nil {
		return err
	}
	var failed error
	rep, err := verify.Check(body, verify.Options{Each: func(e verify.Entry) {
		if failed == nil {
			failed = ew.Add(e)
		}
	}})
	switch {
	case err != nil:
		return fault.Wrap(fault.Platform, err, "read ledger").At(shown, 0, 0)
	case failed != nil:
		return failed
	case rep.Head != run.Report.Head || rep.Entries != run.Report.Entries:
		return fault.New(fault.Ledger, "the ledger changed while it was exported").At(shown, 0, 0)
	}
	return ew.Close()
}

// exported gathers what lies beside a ledger. The plan counts only when it is the one that the ledger names.
func (a *app) exported(v verdict, dir, seal string) (export.Run, error) {
	run := export.Run{
		Report: v.Report, Joy: readVersion().Version, JoyDigest: selfDigest(),
		Key: func() (notekey.Key, error) { return a.sealingKey(v) },
	}
	if t, err := readTarget(dir, filepath.Join(dir, build.LockName), build.LockName); err == nil && t.plan.Digest == v.PlanDigest {
		run.Plan, run.Lock = t.plan, t.lock
	}
	var err error
	run.Seal, err = a.readSeal(dir, seal)
	return run, err
}

// sealingKey is the key that sealed the ledger, if it is this machine's key of the workspace.
func (a *app) sealingKey(v verdict) (notekey.Key, error) {
	missing := fault.New(fault.Consent, "the key that sealed the ledger is not on this machine, and nobody else's can speak for the run").
		WithHint("export where the run was, or sign with the workspace's key: it is in workspaces/%s.key of the configuration there", v.Workspace)
	if !workspaceForm.MatchString(v.Workspace) {
		return notekey.Key{}, missing
	}
	path := a.workspaceKeyFile(v.Workspace)
	if _, err := os.Lstat(path); err != nil {
		return notekey.Key{}, missing
	}
	key, err := notekey.Workspace.Read(path)
	if err == nil && key.Public.String() != v.SealKey {
		err = missing
	}
	return key, err
}
