package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

// What is beside the ledger is held against the index: a project cannot tell of a removal that joy did not make.
func TestMaintenanceIsHeldAgainstTheIndex(t *testing.T) {
	path := func(run state.Run) string { return filepath.Join(run.Dir, maintenanceFile) }
	change := func(from, to string) func(*testing.T, *past, state.Run) {
		return func(t *testing.T, _ *past, run state.Run) {
			body, err := os.ReadFile(path(run))
			require.NoError(t, err)
			require.Contains(t, string(body), from)
			require.NoError(t, os.WriteFile(path(run), bytes.Replace(body, []byte(from), []byte(to), 1), 0o600))
		}
	}
	for name, c := range map[string]struct {
		do   func(*testing.T, *past, state.Run)
		code int
		want string
	}{
		"as it was": {func(*testing.T, *past, state.Run) {}, 0, "bodies removed on "},
		"torn":      {func(t *testing.T, _ *past, run state.Run) { addTo(t, path(run), `{"seq":3,`) }, 0, "bodies removed on "},
		"edited":    {change("--bodies", "--bodiez"), 7, "maintenance.jsonl: line 1 was edited"},
		"deleted":   {func(t *testing.T, _ *past, run state.Run) { require.NoError(t, os.Remove(path(run))) }, 7, "maintenance.jsonl is gone or empty"},
		"emptied":   {func(t *testing.T, _ *past, run state.Run) { require.NoError(t, os.Truncate(path(run), 0)) }, 7, "maintenance.jsonl is gone or empty"},
		"a link": {func(t *testing.T, p *past, run state.Run) {
			require.NoError(t, os.Rename(path(run), filepath.Join(p.app.dir, "m")))
			require.NoError(t, os.Symlink(filepath.Join(p.app.dir, "m"), path(run)))
		}, 7, "maintenance.jsonl: not an ordinary file"},
		"no lines": {func(t *testing.T, _ *past, run state.Run) {
			require.NoError(t, os.WriteFile(path(run), []byte("{}\n"), 0o600))
		}, 7, "maintenance.jsonl: "},
		"written anew": {func(t *testing.T, p *past, run state.Run) {
			require.NoError(t, os.Remove(path(run)))
			forge(t, p, run)
		}, 7, "does not hold the line that your index of runs has"},
		"another run's": {func(t *testing.T, p *past, run state.Run) {
			other := p.run(41, true, "x")
			code, said := p.joy("gc", "--runs-older", "41d", "--bodies")
			require.Zero(t, code, said)
			body, err := os.ReadFile(path(other))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path(run), body, 0o600))
		}, 7, "maintenance.jsonl: line 1 does not follow"},
	} {
		p := newPast(t)
		run := p.run(40, true, "mine")
		code, said := p.joy("gc", "--runs-older", "30d", "--bodies")
		require.Zero(t, code, said)
		c.do(t, p, run)
		code, said = p.joy("ledger", "verify", run.ID)
		require.Equal(t, c.code, code, "%s: %s", name, said)
		require.Contains(t, said, c.want, name)
	}

	p := newPast(t)
	run := p.run(40, true, "mine")
	forge(t, p, run) // the bodies were taken by somebody else
	code, said := p.joy("ledger", "verify", run.ID)
	require.Zero(t, code, said)
	require.Contains(t, said, "so maintenance.jsonl says, and your index of runs does not know it")
	code, said = p.joy("gc", "--runs-older", "45d", "--bodies")
	require.Zero(t, code, said)
	require.True(t, p.holds("mine"), "a forged intent is nothing that joy goes on with")
}

// forge writes maintenance as somebody would who cannot write the index.
func forge(t *testing.T, p *past, run state.Run) {
	t.Helper()
	h, err := p.index.Head(run.ID)
	require.NoError(t, err)
	w, err := ledger.OpenMaintenance(run.Dir, run.ID, h.Head)
	require.NoError(t, err)
	_, err = w.Append(ledger.BodiesRemoving, "", ledger.Data{"by": "somebody"})
	require.NoError(t, err)
	_, err = w.Append(ledger.RunFinished, "", nil)
	require.ErrorContains(t, err, "no type of maintenance")
	require.NoError(t, w.Close())
}

func addTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// Wherever joy is killed while it removes, what stays holds, and the next call goes on, whatever is old by then.
func TestRemovalGoesOnWhereItStopped(t *testing.T) {
	stops := []struct {
		name string
		at   func(t *testing.T, p *past, store *artifact.Store, old []*oldRun)
	}{
		{"one intent of two", func(t *testing.T, p *past, _ *artifact.Store, old []*oldRun) {
			require.NoError(t, old[0].intend(p.index, &retention{by: "me"}))
		}},
		{"all intents", func(t *testing.T, p *past, _ *artifact.Store, old []*oldRun) {
			for _, o := range old {
				require.NoError(t, o.intend(p.index, &retention{by: "me"}))
			}
		}},
		{"the objects of the first", func(t *testing.T, p *past, store *artifact.Store, old []*oldRun) {
			for _, o := range old {
				require.NoError(t, o.intend(p.index, &retention{by: "me"}))
			}
			require.NoError(t, store.Remove(old[0].objects))
		}},
		{"the first", func(t *testing.T, p *past, store *artifact.Store, old []*oldRun) {
			for _, o := range old {
				require.NoError(t, o.intend(p.index, &retention{by: "me"}))
			}
			require.NoError(t, store.Remove(old[0].objects))
			require.NoError(t, old[0].remove(p.index))
		}},
		{"half a directory", func(t *testing.T, p *past, store *artifact.Store, old []*oldRun) {
			for _, o := range old {
				require.NoError(t, o.intend(p.index, &retention{by: "me"}))
			}
			require.NoError(t, store.Remove(old[0].objects))
			if old[0].What == wholeRun {
				require.NoError(t, os.Rename(old[0].run.Dir, old[0].run.Dir+removedSuffix))
				require.NoError(t, os.Remove(filepath.Join(old[0].run.Dir+removedSuffix, ledgerFile)))
			}
		}},
	}
	for _, bodies := range []bool{true, false} {
		for _, stop := range stops {
			p := newPast(t)
			p.run(40, true, "mine", "of both")
			p.run(50, true, "of both")
			p.stopAt(&retention{before: time.Now(), bodies: bodies, by: "me"}, stop.at)
			code, said := p.joy("ledger", "verify")
			require.Zero(t, code, "%s: %s", stop.name, said)
			args := []string{"gc", "--runs-older", "45d"}
			if bodies {
				args = append(args, "--bodies")
			}
			code, said = p.joy(args...)
			require.Zero(t, code, "%s: %s", stop.name, said)
			code, said = p.joy("ledger", "verify")
			require.Zero(t, code, "%s: %s", stop.name, said)
			require.NotContains(t, said, "not all yet", stop.name)
			require.False(t, p.holds("of both"), stop.name)
			require.False(t, p.holds("mine"), stop.name)
		}
	}
}

// stopAt chooses what r asks for and does a part of it.
func (p *past) stopAt(r *retention, at func(*testing.T, *past, *artifact.Store, []*oldRun)) {
	p.t.Helper()
	store, err := artifact.OpenAlone(p.dir.ObjectsDir())
	require.NoError(p.t, err)
	defer store.Close()
	old, _, err := p.app.oldRuns(p.index, p.dir, r)
	require.NoError(p.t, err)
	require.Len(p.t, old, 2)
	require.NoError(p.t, measure(store, p.dir, p.index, old))
	at(p.t, p, store, old)
}
