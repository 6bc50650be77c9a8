package cli

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/config"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/state"
)

// past is a project with runs of the past, as joy run leaves them.
type past struct {
	t     *testing.T
	app   *app
	out   *bytes.Buffer
	errs  *bytes.Buffer
	dir   *state.Dir
	index *state.Index
}

const planOfPast = "sha256:abababababababababababababababababababababababababababababababab"

func newPast(t *testing.T) *past {
	t.Helper()
	p := &past{t: t}
	p.app, p.out, p.errs = testApp(t)
	cfg, err := config.Load(p.app.env.LookupEnv, func(string) *pflag.Flag { return nil })
	require.NoError(t, err)
	p.app.cfg, p.index = cfg, state.OpenIndex(cfg.Dirs.State)
	p.dir, err = state.Open(p.app.dir, "")
	require.NoError(t, err)
	return p
}

// run records a run that ended days ago and stored bodies. end is run.finished and the seal; without it joy has died.
func (p *past) run(days int, end bool, bodies ...string) state.Run {
	p.t.Helper()
	at := time.Now().Add(-time.Duration(days) * 24 * time.Hour)
	id, err := state.NewID(at, strings.NewReader(strings.Repeat(string(rune('a'+days%26)), 4)))
	require.NoError(p.t, err)
	run, err := p.dir.NewRun(id)
	require.NoError(p.t, err)
	require.NoError(p.t, os.Mkdir(filepath.Join(run.Dir, logsDirName), 0o700))
	require.NoError(p.t, os.WriteFile(filepath.Join(run.Dir, logsDirName, "render.1.stdout"), []byte("printed"), 0o600))
	w, err := ledger.Create(run.Dir, id, planOfPast, ledger.Options{Now: func() time.Time { return at }})
	require.NoError(p.t, err)
	_, err = w.Effect(ledger.RunStarted, "", ledger.Data{"agent": "past", "workspace": "acme"})
	require.NoError(p.t, err)
	store, err := artifact.Open(p.dir.ObjectsDir())
	require.NoError(p.t, err)
	for i, body := range bodies {
		if i == 0 || body != bodies[i-1] {
			_, err := store.PutBytes([]byte(body))
			require.NoError(p.t, err)
		}
		_, err = w.Append(ledger.ArtifactStored, "render", ledger.Data{"name": body, "bytes": len(body), "sha256": hashOf(body)})
		require.NoError(p.t, err)
	}
	require.NoError(p.t, store.Close())
	require.NoError(p.t, p.index.PutHead(state.Head{Run: id, StateDir: p.dir.Path()}))
	if end {
		_, err = w.Append(ledger.RunFinished, "", ledger.Data{"outcome": "succeeded"})
		require.NoError(p.t, err)
		key, err := p.app.workspaceKey("acme")
		require.NoError(p.t, err)
		_, err = w.Seal(key, func(s ledger.Seal) { require.NoError(p.t, p.index.PutHead(headOf(id, p.dir.Path(), s))) })
		require.NoError(p.t, err)
	}
	require.NoError(p.t, w.Close())
	return run
}

// joy runs a command and returns its exit code and all that it said.
func (p *past) joy(args ...string) (code int, said string) {
	p.t.Helper()
	p.out.Reset()
	p.errs.Reset()
	a := newApp(p.app.env)
	code = a.report(a.execute(p.t.Context(), args))
	return code, p.out.String() + p.errs.String()
}

// holds reports whether the store has a body.
func (p *past) holds(body string) bool {
	p.t.Helper()
	store, err := artifact.OpenExisting(p.dir.ObjectsDir())
	require.NoError(p.t, err)
	defer store.Close()
	sizes, err := store.List()
	require.NoError(p.t, err)
	_, there := sizes[hashOf(body)]
	return there
}

// files is every file of the project and of the index with its content.
func (p *past) files() map[string]string {
	p.t.Helper()
	all := map[string]string{}
	for _, top := range []string{p.dir.Path(), p.app.cfg.Dirs.State} {
		require.NoError(p.t, filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			all[path] = string(body)
			return err
		}))
	}
	return all
}

func TestOldBodiesGoAndLedgersStay(t *testing.T) {
	p := newPast(t)
	old, older := p.run(40, true, "mine", "of both", "kept by the young"), p.run(50, true, "of both", "of the older")
	young := p.run(10, true, "kept by the young")
	before := p.files()
	code, said := p.joy("gc", "--runs-older", "30d", "--bodies", "--dry-run")
	require.Zero(t, code, said)
	require.Contains(t, said, "would remove bodies of run "+old.ID+", ended ")
	require.Contains(t, said, "2 objects, 18 B\n", "its own, what it shares with a run that goes too, and what was printed")
	require.Contains(t, said, "would free ")
	require.Equal(t, before, p.files(), "a dry run changes nothing")

	code, said = p.joy("gc", "--runs-older", "30d", "--bodies")
	require.Zero(t, code, said)
	for body, there := range map[string]bool{"mine": false, "of both": false, "of the older": false, "kept by the young": true} {
		require.Equal(t, there, p.holds(body), body)
	}
	require.NoDirExists(t, filepath.Join(old.Dir, logsDirName))
	require.DirExists(t, filepath.Join(young.Dir, logsDirName))
	code, said = p.joy("ledger", "verify", older.ID)
	require.Zero(t, code, said)
	require.Contains(t, said, "complete, sealed")
	require.Regexp(t, `since    bodies removed on \d{4}-\d\d-\d\d by .+ \(joy gc --runs-older 30d --bodies\)\n`, said)
	code, said = p.joy("ledger", "verify")
	require.Zero(t, code, said)
	code, said = p.joy("ledger", "show", old.ID)
	require.Zero(t, code, said)
	require.Contains(t, said, "bodies removed on ")
	code, said = p.joy("artifact", "get", "--run", old.ID, "mine")
	require.Equal(t, 2, code)
	require.Contains(t, said, "has none any more: bodies removed on ")

	again := p.files()
	code, said = p.joy("gc", "--runs-older", "30d", "--bodies")
	require.Zero(t, code, said)
	require.Equal(t, again, p.files(), "there is nothing left to remove")
	code, said = p.joy("gc", "--runs-older", "5d", "--bodies") // what the old run shared goes with the last who needs it
	require.Zero(t, code, said)
	require.False(t, p.holds("kept by the young"))
}

func TestOldRunsGoAndTheIndexTells(t *testing.T) {
	p := newPast(t)
	old, young := p.run(40, true, "mine", "shared"), p.run(10, true, "shared")
	code, said := p.joy("gc", "--runs-older", "12h", "--dry-run", "--json")
	require.Zero(t, code, said)
	var doc struct{ Old []oldRun }
	require.NoError(t, json.Unmarshal(p.out.Bytes(), &doc))
	require.Len(t, doc.Old, 2)
	require.Positive(t, doc.Old[0].Bytes)

	code, said = p.joy("gc", "--runs-older", "30d")
	require.Zero(t, code, said)
	require.Contains(t, said, "removed run "+old.ID)
	require.NoDirExists(t, old.Dir)
	require.DirExists(t, young.Dir)
	require.False(t, p.holds("mine"))
	require.True(t, p.holds("shared"))
	code, said = p.joy("ledger", "verify")
	require.Zero(t, code, said)
	require.Regexp(t, "run "+old.ID+`: removed on \S+ by .+ \(joy gc --runs-older 30d\)`, said)
	require.NotContains(t, said, "missing")
	for _, args := range [][]string{{"ledger", "show", old.ID}, {"ledger", "verify", old.ID}, {"artifact", "list", old.ID}} {
		code, said = p.joy(args...)
		require.Equal(t, 2, code, "%v: %s", args, said)
		require.Contains(t, said, "run "+old.ID+" was removed on ", "%v", args)
	}
}

// What goes on, what nobody vouches for and what is not this user's stays, whatever its age.
func TestWhatIsNeverRemoved(t *testing.T) {
	p := newPast(t)
	died, foreign, cut, goesOn := p.run(40, false, "died"), p.run(41, true, "foreign"), p.run(42, true, "cut"), p.run(43, true, "live")
	require.NoError(t, p.index.RemoveHead(foreign.ID))
	require.NoError(t, os.Remove(filepath.Join(cut.Dir, sealFile)))
	require.NoError(t, p.index.Put(state.Live{Run: goesOn.ID, StateDir: p.dir.Path(), Process: state.Self()}))
	for _, args := range [][]string{{"gc", "--runs-older", "1d"}, {"gc", "--runs-older", "1d", "--bodies"}} {
		before := p.files()
		code, said := p.joy(args...)
		require.Zero(t, code, said)
		require.Equal(t, before, p.files())
		require.Contains(t, said, "kept run "+died.ID+": its ledger is incomplete: there is no run.finished")
		require.Contains(t, said, "kept run "+foreign.ID+": your index of runs does not know it")
		require.Contains(t, said, "kept run "+cut.ID+": its ledger is incomplete: its seal is not here")
		require.Contains(t, said, "kept run "+goesOn.ID+": it goes on")
	}

	store, err := artifact.Open(p.dir.ObjectsDir()) // as a run has it, from before its first entry
	require.NoError(t, err)
	code, said := p.joy("gc", "--runs-older", "1d")
	require.Equal(t, 6, code)
	require.Contains(t, said, "a run goes on in this project: nothing of its old runs was removed")
	require.NoError(t, store.Close())
}

func TestRetentionRefuses(t *testing.T) {
	p := newPast(t)
	for want, args := range map[string][]string{
		"--bodies says what --runs-older removes":      {"gc", "--bodies"},
		`"soon" is no time such as 30d, 12w or 720h`:   {"gc", "--runs-older", "soon"},
		`"-3d" is no time such as 30d, 12w or 720h`:    {"gc", "--runs-older=-3d"},
		`"1.5w" is no time such as 30d, 12w or 720h`:   {"gc", "--runs-older", "1.5w"},
		`"99999w" is no time such as 30d, 12w or 720h`: {"gc", "--runs-older", "99999w"},
		`"" is no time such as 30d, 12w or 720h`:       {"gc", "--runs-older", ""},
	} {
		code, said := p.joy(args...)
		require.Equal(t, 2, code, want)
		require.Contains(t, said, want)
	}
	for text, want := range map[string]time.Duration{"30d": 720 * time.Hour, "12w": 2016 * time.Hour, "720h": 720 * time.Hour, "0d": 0} {
		age, err := parseAge(text)
		require.NoError(t, err)
		require.Equal(t, want, age, text)
	}
}
