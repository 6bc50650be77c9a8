package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/state"
)

// ledgerFile is the ledger's name in a run's directory. It is spelled out here because what reads a ledger imports
// nothing of what writes it.
const ledgerFile = "ledger.jsonl"

func newLedgerCmd(a *app) *cobra.Command {
	return group("ledger", "Read past runs: what happened, and whether the record holds",
		"  joy ledger list\n"+
			"  joy ledger show --step render\n"+
			"  joy ledger verify",
		newLedgerListCmd(a), newLedgerShowCmd(a), newLedgerDiffCmd(a), newLedgerExplainCmd(a),
		newLedgerVerifyCmd(a), newLedgerProveCmd(a), newLedgerExportCmd(a), newLedgerKeyCmd(a))
}

// openLedger opens what a person named: a file, or a run of the project by its id, a part of it, or nothing for the
// latest. shown is how messages name it. The caller closes the file.
func (a *app) openLedger(args []string) (f *os.File, shown string, err error) {
	ref := ""
	if len(args) > 0 {
		ref = args[0]
	}
	if a.namesFile(ref) {
		if f, err = openNamed(a.abs(ref)); err != nil {
			return nil, ref, fault.Wrap(fault.Input, err, "open ledger")
		}
		return f, ref, nil
	}
	_, run, err := a.resolveRun(ref)
	if err != nil {
		return nil, "", err
	}
	f, err = openRunLedger(run)
	return f, a.relative(filepath.Join(run.Dir, ledgerFile)), err
}

// openNamed opens a file that a person named, which may be a pipe of a shell. One that nobody writes to is empty, and holds
// joy for no time.
func openNamed(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // #nosec G304 -- the user's own word
}

// namesFile tells a file from a run id: it looks like a path, or there is such a file.
func (a *app) namesFile(ref string) bool {
	if ref == "" {
		return false
	}
	if strings.ContainsAny(ref, `/\`) || strings.HasSuffix(ref, ".jsonl") {
		return true
	}
	info, err := os.Stat(a.abs(ref))
	return err == nil && info.Mode().IsRegular()
}

// openRunLedger opens a run's ledger without following a link out of its directory or in it.
func openRunLedger(run state.Run) (*os.File, error) {
	root, err := ordinary.OpenRoot(run.Dir)
	if err != nil {
		return nil, fault.Wrap(fault.Platform, err, "open run")
	}
	defer root.Close()
	f, err := ordinary.OpenHere(root, ledgerFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.New(fault.Ledger, "run %s has no ledger", run.ID).At(run.Dir, 0, 0)
	case errors.Is(err, ordinary.Err):
		return nil, fault.New(fault.Ledger, "the ledger of run %s is not a regular file", run.ID).At(filepath.Join(run.Dir, ledgerFile), 0, 0)
	case err != nil:
		return nil, fault.Wrap(fault.Platform, err, "open ledger").At(filepath.Join(run.Dir, ledgerFile), 0, 0)
	}
	return f, nil
}

// relative shortens a path below the working directory for messages.
func (a *app) relative(path string) string {
	if rel, err := filepath.Rel(a.dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}
