package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/artifact"
	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/policy"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/secret"
)

// rig is a run with everything real but its VM: a ledger and a store on disk, a broker, a set of secrets.
type rig struct {
	Config
	vm     *scripted
	dir    string
	tee    tee
	before int // goroutines
	links  []connection.Config
	report verify.Report
	list   []verify.Entry // with Raw cleared
}

const mainFile = "#!/bin/bash\n"

// script is a step that runs a skill of its own name.
func script(id string, needs ...string) plan.Step {
	return plan.Step{
		ID: id, Kind: plan.Script, Skill: id, Entry: &plan.Entry{Path: "main.sh", Argv: []string{"bash"}}, Needs: needs,
		With: json.RawMessage(`{}`), Timeout: policy.Duration(time.Minute), Sandbox: plan.Sandbox{Required: true},
	}
}

func newRig(t testing.TB, steps ...plan.Step) *rig {
	t.Helper()
	r := &rig{vm: &scripted{scripts: map[string]func(*scene) (sandbox.Result, error){}}, dir: t.TempDir(), before: runtime.NumGoroutine()}
	p := &plan.Plan{Digest: digest.Bytes([]byte("plan")), Agent: plan.Agent{Name: "weekly", Workspace: "local"}, Policy: policy.Default(), Steps: steps}
	for _, s := range steps {
		if s.Skill != "" {
			p.Skills = append(p.Skills, plan.Skill{Name: s.Skill, Files: []plan.File{{Path: "main.sh", Mode: "0755", Size: int64(len(mainFile))}}})
		}
	}
	objects, err := artifact.Open(filepath.Join(r.dir, "objects"))
	require.NoError(t, err)
	r.Objects = objects
	r.Key = []byte("a key of this run alone")
	r.LogDir = filepath.Join(r.dir, "logs")
	require.NoError(t, os.Mkdir(r.LogDir, 0o700))
	r.Ledger, err = ledger.Create(r.dir, "run-1", p.Digest, ledger.Options{Tee: &r.tee})
	require.NoError(t, err)
	r.Plan, r.RunID, r.Input, r.Provider, r.Secrets = p, "run-1", json.RawMessage(`{}`), r.vm, secret.NewScrubber()
	r.Bundle = func(string, plan.File) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(mainFile)), nil }
	t.Cleanup(func() { _ = errors.Join(r.Ledger.Close(), objects.Close()) })
	return r
}

// on says what the script of a step does.
func (r *rig) on(step string, do func(*scene) (sandbox.Result, error)) { r.vm.scripts[step] = do }

// prints makes the script of a step succeed with this output.
func (r *rig) prints(step, stdout string) {
	r.on(step, func(s *scene) (sandbox.Result, error) {
		s.print(stdout)
		return sandbox.Result{}, nil
	})
}

// run runs the plan to its end, reads the ledger back and holds what every run owes: a chain that holds, and no
// goroutine left behind.
func (r *rig) run(t testing.TB, ctx context.Context) Outcome { //nolint:revive // testing.TB comes first, as everywhere
	t.Helper()
	r.Broker = broker.New(broker.Config{
		Workspace: "local", Agent: "weekly", Run: r.RunID, Ledger: r.Ledger, Secrets: r.Secrets,
		Pins: r.Plan.Connections, Connections: r.links, Objects: r.Objects, Approvals: r.Plan.Policy.Approvals,
	})
	out := Run(ctx, r.Config)
	_ = r.Ledger.Close()
	http.DefaultClient.CloseIdleConnections() // what a server by URL was reached with
	requireNoMoreThan(t, r.before)
	r.read(t)
	require.NotEqual(t, verify.Broken, r.report.State, r.report.Problem)
	require.Len(t, out.Steps, len(withSetup(r.Plan)))
	return out
}

// requireNoMoreThan waits for goroutines that are about to end; nothing tells when they have.
func requireNoMoreThan(t testing.TB, goroutines int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			all := make([]byte, 1<<20)
			require.Fail(t, "goroutines are left", "%s", all[:runtime.Stack(all, true)])
		}
	}
}

// finished is run for a run whose record must be whole: every start has an end.
func (r *rig) finished(t testing.TB) Outcome {
	t.Helper()
	out := r.run(t, t.Context())
	require.NoError(t, out.RecordErr)
	r.requireComplete(t)
	return out
}

func (r *rig) requireComplete(t testing.TB) {
	t.Helper()
	require.Equal(t, verify.Complete, r.report.State, r.report.Problem)
	require.Empty(t, r.report.Unknown)
	require.Equal(t, r.count("token.issued"), r.count("token.revoked"))
}

func (r *rig) read(t testing.TB) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.dir, ledger.FileName))
	require.NoError(t, err)
	defer f.Close()
	r.list = nil
	r.report, err = verify.Check(f, verify.Options{PlanDigest: r.Plan.Digest, Each: func(e verify.Entry) {
		e.Raw = nil
		r.list = append(r.list, e)
	}})
	require.NoError(t, err)
}

// all are the entries of a type.
func (r *rig) all(typ string) (list []verify.Entry) {
	for _, e := range r.list {
		if e.Type == typ {
			list = append(list, e)
		}
	}
	return list
}

func (r *rig) count(typ string) int { return len(r.all(typ)) }

// one is the only entry of a type.
func (r *rig) one(t testing.TB, typ string) verify.Entry {
	t.Helper()
	list := r.all(typ)
	require.Len(t, list, 1, typ)
	return list[0]
}

// story is the types and steps of the ledger, in order.
func (r *rig) story() (out []string) {
	for _, e := range r.list {
		out = append(out, strings.TrimSpace(e.Type+" "+e.Step))
	}
	return out
}

func (out Outcome) step(id string) StepOutcome {
	for _, s := range out.Steps {
		if s.ID == id {
			return s
		}
	}
	return StepOutcome{}
}

// dry is the run with a ledger that leaves nothing behind.
func (r *rig) dry() Config {
	c := r.Config
	c.Ledger, _ = ledger.Memory("sim", r.Plan.Digest, ledger.Options{})
	c.Broker = broker.New(broker.Config{Run: "sim", Ledger: c.Ledger, Secrets: c.Secrets})
	return c
}
