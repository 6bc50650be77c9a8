package cli

import (
	"errors"
	"io/fs"
	"os/user"
	"path/filepath"
	"slices"
	"time"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/account"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/state"
)

// maintenanceFile is beside a run's ledger, spelled out as ledgerFile is.
const maintenanceFile = "maintenance.jsonl"

// noLedger is what the first line of maintenance follows when there is no ledger to read.
const noLedger = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// maintenance is what joy did to a run after its end.
type maintenance struct {
	entries []verify.Entry
	problem string // what is wrong with the first line that does not belong there
	known   int    // how many of the entries the user's index vouches for
	indexed bool   // the index knows the run
}

// readMaintenance reads it from a run's directory. head is that of the ledger, or "" when nobody knows.
func readMaintenance(index *state.Index, dir, run, head string) maintenance {
	var m maintenance
	f, err := openPlain(dir, maintenanceFile)
	if err == nil {
		m.entries, err = verify.Maintenance(f, run, head)
		_ = f.Close() // it was only read
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.problem = maintenanceFile + ": " + err.Error()
		return m
	}
	h, err := index.Head(run)
	m.indexed = err == nil
	if h.Maintenance == "" {
		return m
	}
	m.known = slices.IndexFunc(m.entries, func(e verify.Entry) bool { return e.Hash == h.Maintenance }) + 1
	switch {
	case m.known > 0:
	case len(m.entries) == 0:
		m.problem = maintenanceFile + " is gone or empty: your index of runs knows of it"
	default:
		m.problem = maintenanceFile + " does not hold the line that your index of runs has: it was cut off or written anew"
	}
	return m
}

// removing is the intent to remove the run's bodies, and the end of that; nil when there is none.
func (m maintenance) removing() (intent, end *verify.Entry) {
	for i := range m.entries {
		switch e := &m.entries[i]; e.Type {
		case "bodies.removing":
			intent, end = e, nil
		case "bodies.removed":
			end = e
		}
	}
	return intent, end
}

// vouched is removing for who acts on it: of entries that the index knows. A line that anybody can have written beside the
// ledger must not make joy remove anything; and joy removes nothing before the index knows.
func (m maintenance) vouched() (intent, end *verify.Entry) {
	return maintenance{entries: m.entries[:m.known]}.removing()
}

// text says in one line that bodies were removed, or "".
func (m maintenance) text() string {
	intent, end := m.removing()
	if intent == nil {
		return ""
	}
	text := "bodies removed on " + intent.Time.UTC().Format(time.DateOnly) + " by " + intent.String("by")
	if end == nil {
		text += "; not all yet: joy gc --runs-older goes on"
	}
	if m.indexed && int64(m.known) < intent.Seq {
		text += "; so " + maintenanceFile + " says, and your index of runs does not know it"
	}
	return text
}

// heldByMaintenance adds what joy did to the run since, and breaks the verdict when that was tampered with.
func (v *verdict) heldByMaintenance(index *state.Index, dir, run string) {
	head := v.Head
	if v.State == verify.Broken {
		head = ""
	}
	v.maintenance = readMaintenance(index, dir, run, head)
	if v.State != verify.Broken {
		v.breakWith(v.maintenance.problem, 0)
	}
}

// maintain appends to a run's maintenance what do says, and lets the index know. The ledger itself is never touched.
func maintain(index *state.Index, run state.Run, do func(*ledger.Writer) error) (err error) {
	head := noLedger
	if f, ferr := openRunLedger(run); ferr == nil {
		if _, last, eerr := account.Ends(f); eerr == nil {
			head = last.Hash
		}
		_ = f.Close() // it was only read
	}
	w, err := ledger.OpenMaintenance(run.Dir, run.ID, head)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := do(w); err != nil {
		return err
	}
	h, err := index.Head(run.ID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it knows nothing of the run, and what it would say now is no more than what the project says
	}
	if err != nil {
		return err
	}
	h.Maintenance = w.Head()
	return index.PutHead(h)
}

// noteCleared says what was done to a run whose joy had died.
func (a *app) noteCleared(index *state.Index, l *leftover) error {
	return maintain(index, state.Run{ID: l.Run, Dir: filepath.Clean(l.Dir)}, func(w *ledger.Writer) error {
		_, err := w.Effect(ledger.RunCleared, "", ledger.Data{
			"by": byUser("joy gc"), "vms": notNil(l.VMs), "destroyed": notNil(l.Alive), "torn": clean(l.Torn), "head": l.Head,
		})
		return err
	})
}

// byUser is who does something, and by what command.
func byUser(command string) string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return clean(name + " (" + command + ")")
}
