package runner

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/sandbox/sim"
)

// A dry run is the same loop with other adapters: outputs are names, and nothing is kept.
func TestDryRun(t *testing.T) {
	fetch := plan.Step{ID: "fetch", Kind: plan.Action, Action: "sales.list", With: []byte(`{}`), Timeout: script("x").Timeout}
	render := script("render", "fetch")
	render.With = []byte(`{"orders": "${{ steps.fetch.output.rows[0] }}", "week": "${{ inputs.week }}", "title": "Total ${{ steps.fetch.output.total }}"}`)
	drop := plan.Step{ID: "drop", Kind: plan.Action, Action: "drive.upload", Needs: []string{"render"}, Timeout: fetch.Timeout}
	drop.With = []byte(`{"file": "${{ steps.render.artifacts['report.pdf'] }}"}`)
	r := newRig(t, fetch, render, drop)
	r.Plan.Skills[0].InputSchema = json.RawMessage(`{"properties":{"orders":{"type":"object"}}}`)
	r.Plan.Skills[0].OutputSchema = json.RawMessage(`{"type":"object"}`)
	provider := &sim.Provider{}
	r.Provider, r.Objects, r.LogDir, r.Input = provider, nil, "", []byte(`{"week":"W48"}`)
	given := map[string]any{}
	r.Call = func(_ context.Context, s plan.Step, input any) (any, error) {
		given[s.ID] = input
		return plan.Symbol("steps." + s.ID + ".output"), nil
	}
	before, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	require.Equal(t, Succeeded, Run(t.Context(), r.dry()).Status)
	g, ok := provider.Given("render")
	require.True(t, ok)
	require.JSONEq(t, `{"orders":"<steps.fetch.output.rows[0]>","title":"Total <steps.fetch.output.total>","week":"W48"}`, string(g.Input))
	require.Equal(t, []string{"bash", "/workspace/skills/render/main.sh"}, g.Argv)
	require.Equal(t, []string{"skills/render/main.sh", "in/input.json"}, g.Files)
	require.Equal(t, "<steps.fetch.output.rows[0]>", g.Env["JOY_INPUT_ORDERS"])
	require.Equal(t, "render", provider.Booted())
	require.Equal(t, map[string]any{"file": plan.Symbol("steps.render.artifacts['report.pdf']")}, given["drop"])
	after, err := os.ReadDir(r.dir)
	require.NoError(t, err)
	require.Len(t, after, len(before), "a dry run leaves nothing")
}

// What is known is checked in a dry run too.
func TestDryRunFails(t *testing.T) {
	s := script("a")
	s.With = []byte(`{"n": "x"}`)
	r := newRig(t, s)
	r.Plan.Skills[0].InputSchema = json.RawMessage(`{"properties":{"n":{"type":"integer"}}}`)
	r.Provider, r.Objects, r.LogDir = &sim.Provider{}, nil, ""
	out := Run(t.Context(), r.dry())
	require.Equal(t, Failed, out.Status)
	require.Equal(t, fault.Input, out.Failure.Kind)
}
