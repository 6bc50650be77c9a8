package cli

import (
	"io"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger/export"
	"github.com/joystream-ai/joy/internal/replay"
)

// replayFormat is a record to be repeated and not to be read: it needs the bodies that the ledger names, so that it is made from
// a run of this project.
var replayFormat = export.Format{Name: "replay", About: "a record file, for joy replay and joy simulate --exercise", Whole: true}

// exportReplay packs a run's ledger, seal and lock with every body that a replay needs.
func (a *app) exportReplay(w io.Writer, body *io.SectionReader, run export.Run, dir string) error {
	ledger, err := io.ReadAll(io.NewSectionReader(body, 0, body.Size()))
	if err != nil {
		return err
	}
	if run.Plan == nil {
		return fault.New(fault.Input, "the lock of the run is not beside its ledger").WithHint("name a run of this project")
	}
	store, err := artifact.OpenExisting(filepath.Join(filepath.Dir(filepath.Dir(dir)), "objects"))
	if err != nil {
		return fault.Wrap(fault.Input, err, "open the objects of the run").WithHint("name a run of this project")
	}
	defer store.Close()
	parts := replay.Parts{Ledger: ledger, Seal: run.Seal, Lock: run.Lock}
	needs, err := replay.Needs(parts, run.Plan)
	if err != nil {
		return err
	}
	return replay.Write(w, parts, needs, store.Open)
}
