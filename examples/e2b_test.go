//go:build linux

package examples_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/e2btest"
)

// atE2B has the agent's runs go to a server of E2B's shape, whose template has what the image of the profile has.
func (a *agent) atE2B(profile string) {
	a.t.Helper()
	server := e2btest.Start(a.t, e2btest.Options{Templates: []string{profile}, Runner: e2btest.Namespaces{Profile: profile}})
	a.t.Cleanup(func() { require.Empty(a.t, server.Sandboxes()) }) // before the server's own
	a.env = append(append(a.env, "JOY_SANDBOX=e2b"), server.Env()...)
	a.write("joy.yaml", a.file("joy.yaml")+"e2b_template: "+profile+"\n")
}

// same holds that a run elsewhere came out as the one in a local VM did: what each step said, and every byte that it left.
func (a *agent) same(local outcome, provider string) {
	a.t.Helper()
	got := a.outcome()
	require.NotEmpty(a.t, local.Steps)
	require.Equal(a.t, local.Steps, got.Steps)
	require.Contains(a.t, a.run("ledger", "show", "--type", "sandbox.created", "--json"), `"provider":"`+provider+`"`)
	a.run("ledger", "verify")
}

// TestRepoReportOnEveryProvider runs the example in a local VM, at E2B and in Kata.
func TestRepoReportOnEveryProvider(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a VM")
	}
	joy := buildJoy(t)
	report := func(a *agent) {
		a.write("shop.tar", string(shop(t)))
		a.run("build", "-q")
		a.run("run", "-q", "--jsonl", "--input", "repo=@shop.tar")
	}
	local := newAgent(t, joy, "repo-report", "base")
	report(local)
	require.Len(t, local.outcome().Steps["render"].Artifacts, 2)
	t.Run("e2b", func(t *testing.T) {
		a := newAgent(t, joy, "repo-report", "base")
		a.atE2B("base")
		report(a)
		a.same(local.outcome(), "e2b")
	})
	t.Run("kata", func(t *testing.T) {
		a := newCluster(t).agent(t, "repo-report", "base")
		report(a)
		a.same(local.outcome(), "kata")
		a.leftNothing()
	})
}
