package cli

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"time"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/image"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/state"
)

// record is one run on disk while it happens: its directory, its ledger, the objects, and its place in the user's
// index of live runs.
type record struct {
	state   *state.Dir
	run     state.Run
	objects *artifact.Store
	ledger  *ledger.Writer
	index   *state.Index
	live    state.Live
	key     []byte // for HMACs of what was scrubbed, of this run alone
}

// openRecord opens the stores of a project. begin makes the run itself; the caller closes the record in any case.
func (a *app) openRecord(t *target) (*record, error) {
	st, err := a.openState(t.dir)
	if err != nil {
		return nil, err
	}
	r := &record{state: st, index: state.OpenIndex(a.cfg.Dirs.State)}
	r.objects, err = artifact.Open(st.ObjectsDir())
	return r, err
}

// begin makes the run's directory with the plan in it, opens the ledger and enters the run into the index. A run that
// did not begin leaves no directory: its empty ledger would pass for the latest one, and for one that was cut off.
func (r *record) begin(t *target, tee io.Writer) (err error) {
	if err := r.reserve(); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		if r.ledger != nil {
			_ = r.ledger.Close() // nothing is in it, and an open file could not be removed on Windows
		}
		_ = os.RemoveAll(r.run.Dir) // the first error is the one to tell
		_ = r.index.Remove(r.run.ID)
	}()
	if err := os.Mkdir(r.logsDir(), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(r.run.Dir, build.LockName), t.lock, 0o600); err != nil {
		return err
	}
	r.key = make([]byte, sha256.Size)
	_, _ = rand.Read(r.key) // never fails
	if err := os.WriteFile(filepath.Join(r.run.Dir, keyName), r.key, 0o600); err != nil {
		return err
	}
	r.ledger, err = ledger.Create(r.run.Dir, r.run.ID, t.plan.Digest, ledger.Options{Tee: tee})
	return err
}

// keyName is the file of a run's key for HMACs. Who has it can tell whether some bytes are those that were scrubbed; it is no
// part of what is exported.
const keyName = "hmac.key"

// logsDir is where the output of a run's commands is.
func (r *record) logsDir() string { return filepath.Join(r.run.Dir, "logs") }

// reserve finds an id that nobody else has, for runs may begin in the same second, and makes its directory. The index knows
// of it before it is there, so that joy gc finds whatever is left of a joy that dies here.
func (r *record) reserve() error {
	for range 10 {
		id, err := state.NewID(time.Now(), rand.Reader)
		if err != nil {
			return err
		}
		if _, err := os.Lstat(filepath.Join(r.state.RunsDir(), id)); err == nil {
			continue // it is somebody's, and so is its entry in the index
		}
		r.live = state.Live{Run: id, StateDir: r.state.Path(), Process: state.Self(), Started: time.Now().UTC()}
		if err := r.index.Put(r.live); err != nil {
			return err
		}
		if r.run, err = r.state.NewRun(id); err != nil {
			return errors.Join(err, r.index.Remove(id))
		}
		return nil
	}
	return errors.New("no free run id")
}

// execution is all that a run is made of besides its record.
type execution struct {
	target   *target
	provider sandbox.Provider
	image    string
	in       *inputs
	secrets  *secret.Set
	outside  *outside
	model    runner.Prompting
	bounds   string   // digest of the operator's policy; "": nobody bounds anything
	standIn  *standIn // nil: services, models and hosts are the real ones
}

// execute runs the plan on the record until ctx is cancelled.
func (r *record) execute(ctx context.Context, a *app, e execution) runner.Outcome {
	p := e.target.plan
	cfg := broker.Config{
		Workspace: p.Agent.Workspace, Agent: p.Agent.Name, Run: r.run.ID, Ledger: r.ledger, Secrets: e.secrets,
		Dialer: a.env.Egress, Pins: p.Connections, Objects: r.objects, Approvals: p.Policy.Approvals,
	}
	started := a.startedBy(e.bounds, e.provider.Name())
	if e.standIn != nil {
		e.standIn.take(&cfg, started)
	} else {
		cfg.Connections, cfg.Approver = e.outside.connections, e.outside.approver.decide
	}
	b := broker.New(cfg)
	skip, skipCollect := context.WithCancel(context.Background())
	defer skipCollect()
	defer context.AfterFunc(ctx, func() {
		if a.err.tty {
			a.say("") // the terminal has shown the key
		}
		a.say("stopping: collecting what is there and destroying the VM (Ctrl-C again to skip artifact collection)")
	})()
	go func() {
		select {
		case <-a.signals.second:
			skipCollect()
		case <-skip.Done():
		}
	}()
	return runner.Run(ctx, runner.Config{
		Plan: p, RunID: r.run.ID, Input: e.in.json, Files: e.in.files, Started: started, Provider: e.provider,
		Image: e.image, Ledger: r.ledger, Broker: b, Secrets: e.secrets, Objects: r.objects, LogDir: r.logsDir(), Key: r.key,
		Bundle: r.bundleFile, Model: e.model, OwnVM: r.ownVM, VMGone: r.vmGone, SkipCollect: skip,
		Admit: a.admit(r.run.ID, p),
	})
}

// keepBundleFile stores what was checked. An object that is there already is read before it is relied on: what a crash
// or a copied project spoiled is replaced, since it would fail every run from then on.
func (r *record) keepBundleFile(c digest.Content) error {
	if r.holds("sha256:" + c.File.SHA256) {
		return nil
	}
	_, err := r.objects.PutBytes(c.Data)
	return err
}

func (r *record) holds(name string) bool {
	f, err := r.objects.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f) // the last read compares with the digest
	return err == nil
}

func (r *record) bundleFile(_ string, f plan.File) (io.ReadCloser, error) { return r.openPinned(f) }

// openPinned opens exactly the bytes that were frozen.
func (r *record) openPinned(f plan.File) (io.ReadCloser, error) {
	return r.objects.Open("sha256:" + f.SHA256)
}

// ownVM puts a VM into the index before anything is waited for, so that joy gc finds it whatever happens to joy.
func (r *record) ownVM(id string) error {
	r.live.VM = append(r.live.VM, id)
	return r.index.Put(r.live)
}

func (r *record) vmGone(string) error {
	r.live.VM = nil
	return r.index.Put(r.live)
}

// close ends the record. A VM that may be alive stays in the index.
func (r *record) close() {
	if r.ledger != nil {
		_ = r.ledger.Close()
	}
	_ = r.objects.Close()
	if r.ledger != nil && len(r.live.VM) == 0 {
		_ = r.index.Remove(r.run.ID)
	}
}

// startedBy is what run.started says of who ran it, with what and within which bounds.
func (a *app) startedBy(bounds, provider string) ledger.Data {
	host, _ := os.Hostname()
	actor := ledger.Data{"host": clean(host), "user": "unknown"}
	if u, err := user.Current(); err == nil {
		actor["user"] = clean(u.Username)
	}
	if url := a.ciURL(); url != "" {
		actor["ci"] = clean(url)
	}
	d := ledger.Data{"trigger": "manual", "actor": actor, "joy": selfDigest()}
	if bounds != "" {
		d["operator"] = bounds
	}
	arch := runtime.GOARCH
	if provider == e2b.Name {
		arch = e2b.GuestArch
	}
	if g, err := image.Guest(arch); err == nil {
		d["guest"] = digest.Bytes(g)
	}
	return d
}

func clean(s string) string {
	out, _ := ledger.Text([]byte(s))
	return out
}

// ciURL is the page of the CI job that joy runs in.
func (a *app) ciURL() string {
	get := func(k string) string { v, _ := a.env.LookupEnv(k); return v }
	if get("GITHUB_ACTIONS") == "true" {
		return get("GITHUB_SERVER_URL") + "/" + get("GITHUB_REPOSITORY") + "/actions/runs/" + get("GITHUB_RUN_ID")
	}
	return get("CI_JOB_URL")
}

// selfDigest names the joy that runs, or says why it cannot.
func selfDigest() string {
	path, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	f, err := os.Open(path)
	if err != nil {
		return "unknown"
	}
	defer f.Close()
	sum, _, err := digest.Reader(f)
	if err != nil {
		return "unknown"
	}
	return sum
}
