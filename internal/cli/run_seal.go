package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/notekey"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/state"
	"github.com/joystream-ai/joy/internal/witness"
)

// witnessFile is beside a run's ledger: what a witness was told and what it answered, a line each time.
const witnessFile = "witness.jsonl"

// witnessed is a line of witnessFile.
type witnessed struct {
	Time    string `json:"time"`
	Witness string `json:"witness"`
	At      string `json:"at"`
	Run     string `json:"run"`
	Entries int64  `json:"entries"`
	Head    string `json:"head"`
	Answer  string `json:"answer"`
}

// sealer ends the ledger of one run, and tells a witness of its start and end.
type sealer struct {
	app     *app
	target  *target
	key     notekey.Key
	witness *witness.Witness // nil when nobody was named
}

// openSealer finds the key and the witness before anything begins: a run that could not be sealed does not start.
func (a *app) openSealer(t *target, witnessText string) (*sealer, error) {
	s := &sealer{app: a, target: t}
	var err error
	if witnessText != "" {
		if s.witness, err = witness.Parse(witnessText, a.env.Dir, nil); err != nil {
			return nil, err
		}
	}
	s.key, err = a.workspaceKey(t.plan.Agent.Workspace)
	return s, err
}

// workspaceKeyFile is where the key of a workspace is: outside any project.
func (a *app) workspaceKeyFile(workspace string) string {
	return filepath.Join(a.cfg.Dirs.Config, "workspaces", workspace+".key")
}

// workspaceKey reads the key of a workspace, or makes it when it is needed first.
func (a *app) workspaceKey(workspace string) (notekey.Key, error) {
	path := a.workspaceKeyFile(workspace)
	key, err := notekey.Workspace.Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key, err = notekey.Workspace.New(path, workspace, rand.Reader)
	if errors.Is(err, fs.ErrExist) { // another joy was faster
		return notekey.Workspace.Read(path)
	}
	if err == nil {
		a.say("made the key of workspace %s in %s: it seals ledgers, and joy ledger key prints its public half", workspace, path)
	}
	return key, err
}

// begin enters the run into the index of heads and tells the witness. A run whose witness cannot be reached does not
// begin, and leaves nothing.
func (s *sealer) begin(ctx context.Context, r *record) error {
	err := r.index.PutHead(state.Head{Run: r.run.ID, StateDir: r.state.Path()})
	if err == nil {
		err = s.tell(ctx, r, witness.Statement{At: "start", Head: s.target.plan.Digest})
	}
	if err != nil {
		_ = r.ledger.Close() // nothing is in it
		_ = r.index.RemoveHead(r.run.ID)
		_ = os.RemoveAll(r.run.Dir) // the first error is the one to tell
	}
	return err
}

// end seals the ledger, keeps its head in the index and tells the witness, whatever ctx says: a run that is interrupted
// ends like any other. The error is of kind Ledger and means that the ledger is not sealed; one that could not be
// written to its end (broken) is not even tried, and is told as that.
func (s *sealer) end(ctx context.Context, r *record, broken error) error {
	if broken != nil {
		return nil
	}
	seal, err := r.ledger.Seal(s.key, func(end ledger.Seal) {
		if err := r.index.PutHead(headOf(r.run.ID, r.state.Path(), end)); err != nil {
			s.app.warn("your index does not know how the run ended: %v", err)
		}
	})
	if err != nil {
		return fault.Wrap(fault.Ledger, err, "the ledger is not sealed")
	}
	s.app.say("sealed %d entries, head %s", seal.Entries, seal.Head)
	told := s.tell(context.WithoutCancel(ctx), r, witness.Statement{At: "end", Entries: seal.Entries, Head: seal.Head, Seal: string(seal.Note)})
	if told != nil {
		s.app.warn("the witness does not know how the run ended: %v", told)
	}
	return nil
}

// outcome is how the command ends: a run that succeeded without a seal did not leave the record that it should.
func (s *sealer) outcome(run, unsealed error) error {
	if unsealed != nil && run != nil {
		s.app.warn("%v: joy ledger verify will call it incomplete", unsealed)
		return run
	}
	return errors.Join(run, unsealed)
}

func headOf(run, stateDir string, seal ledger.Seal) state.Head {
	return state.Head{Run: run, StateDir: stateDir, Entries: seal.Entries, Head: seal.Head}
}

// tell hands st to the witness, if there is one, and keeps what it answered beside the ledger.
func (s *sealer) tell(ctx context.Context, r *record, st witness.Statement) error {
	if s.witness == nil {
		return nil
	}
	agent := s.target.plan.Agent
	st.Schema, st.Run, st.Agent, st.Workspace, st.Plan = "joy.witness/1", r.run.ID, agent.Name, agent.Workspace, s.target.plan.Digest
	answer, err := s.witness.Tell(ctx, st)
	if err != nil {
		return err
	}
	line, err := json.Marshal(witnessed{stampUTC(time.Now()), s.witness.Name(), st.At, st.Run, st.Entries, st.Head, answer})
	if err != nil {
		return err
	}
	return appendIn(r.run.Dir, witnessFile, append(line, '\n'))
}

// appendIn adds to a file in a run's directory. The directory is joy's own, but what lies in it may have been put there
// since.
func appendIn(dir, name string, data []byte) error {
	root, err := ordinary.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fault.New(fault.Policy, "%s in the run's directory is not an ordinary file", name).At(dir, 0, 0)
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
