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

// same holds that a run at E2B came out as the one in a local VM did: what each step said, and every byte that it left.
func (a *agent) same(local outcome) {
	a.t.Helper()
	got := a.outcome()
	require.NotEmpty(a.t, local.Steps)
	require.Equal(a.t, local.Steps, got.Steps)
	require.Contains(a.t, a.run("ledger", "show", "--type", "sandbox.created", "--json"), `"provider":"e2b"`)
	a.run("ledger", "verify")
}

// TestRepoReportOnBothProviders runs the example in a local VM and at E2B.
func TestRepoReportOnBothProviders(t *testing.T) {
	if testing.Short() {
		t.Skip("boots a VM")
	}
	joy := buildJoy(t)
	local, remote := newAgent(t, joy, "repo-report", "base"), newAgent(t, joy, "repo-report", "base")
	remote.atE2B("base")
	for _, a := range []*agent{local, remote} {
		a.write("shop.tar", string(shop(t)))
		a.run("build", "-q")
		a.run("run", "-q", "--jsonl", "--input", "repo=@shop.tar")
	}
	require.Len(t, local.outcome().Steps["render"].Artifacts, 2)
	remote.same(local.outcome())
}
