package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/sandbox/sim"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/term"
)

func newSimulateCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "simulate [DIR|LOCK|RUN]",
		Short: "Walk a plan without any effect",
		Long: "simulate walks the plan as run would, with no VM, no network, no process, and writes nothing. Outputs are\n" +
			"names such as <steps.fetch.output.total>. It prints each step's resolved input and what it may touch.",
		Args: argsBetween(0, 1, "one project, lock or run"),
		Example: "  joy simulate --input week=2026-W48\n" +
			"  joy simulate examples/repo-report --input repo=@src.tar\n" +
			"  joy simulate --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.exercise:
				return a.exercise(cmd.Context(), firstArg(args), o)
			case o.record != "":
				return usagef(cmd, "--record is for --exercise")
			}
			return a.simulate(cmd.Context(), firstArg(args), o)
		},
	}
	cmd.Flags().BoolVar(&o.exercise, "exercise", false, "run scripts in a real VM, and answer the rest from --record or from joy.yaml's fixtures")
	cmd.Flags().StringVar(&o.record, "record", "", "answer from `RUN|FILE`, a past run")
	cmd.Flags().StringArrayVar(&o.inputs, "input", nil, "`NAME=VALUE` of the run's input; NAME=@FILE for a file")
	cmd.Flags().StringVar(&o.inputFile, "input-file", "", "read the input from `FILE`, a JSON object (- for stdin)")
	return cmd
}

// simulation is what a dry run has shown.
type simulation struct {
	Schema string          `json:"schema"`
	Plan   string          `json:"plan"`
	Agent  string          `json:"agent"`
	Input  json.RawMessage `json:"input"`
	Waves  [][]string      `json:"waves"`
	Boots  string          `json:"boots_vm,omitempty"` // the step that would boot the VM
	Setup  *simulatedStep  `json:"setup,omitempty"`    // before the first step in the VM
	Steps  []simulatedStep `json:"steps"`
}

type simulatedStep struct {
	ID       string            `json:"id"`
	Kind     string            `json:"kind"`
	VM       bool              `json:"vm"`
	Needs    []string          `json:"needs"`
	Input    json.RawMessage   `json:"input"`
	Command  []string          `json:"command,omitempty"`
	Files    []string          `json:"files,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Actions  []simulatedAction `json:"actions"`
	Egress   []string          `json:"egress"`
	Timeout  string            `json:"timeout"`
	Evidence []plan.Evidence   `json:"evidence"`
}

func (a *app) simulate(ctx context.Context, arg string, o runOptions) error {
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	if err := t.checkDrift(nil); err != nil {
		return err
	}
	secrets := secret.NewScrubber()
	in, err := a.readInputs(t.plan, o.inputs, o.inputFile, secrets, taking{keep: hashFile})
	if err != nil {
		return err
	}
	s, out, err := dryRun(ctx, t, in, secrets)
	if err != nil {
		return err
	}
	if out.Failure != nil {
		return fault.Wrap(out.Failure.Kind, out.Failure.Err, "step %s would fail", out.Failure.Step)
	}
	s.scrub(secrets)
	if a.json {
		return a.printJSON(s)
	}
	if arg != "" {
		arg = " " + arg
	}
	return a.printSimulation(t.plan, s, arg)
}

// dryRun is the runner with adapters that have no effect: the sim provider, and a ledger in memory.
func dryRun(ctx context.Context, t *target, in *inputs, secrets *secret.Set) (*simulation, runner.Outcome, error) {
	provider := &sim.Provider{}
	led, err := ledger.Memory(sim.Name, t.plan.Digest, ledger.Options{})
	if err != nil {
		return nil, runner.Outcome{}, err
	}
	defer led.Close()
	given := map[string]any{} // of steps whose work is on the host
	symbol := func(_ context.Context, s plan.Step, input any) (any, error) {
		given[s.ID] = input
		return plan.Symbol("steps." + s.ID + ".output"), nil
	}
	out := runner.Run(ctx, runner.Config{
		Plan: t.plan, RunID: sim.Name, Input: in.json, Files: in.files, Provider: provider, Ledger: led, Secrets: secrets,
		Broker: broker.New(broker.Config{
			Workspace: t.plan.Agent.Workspace, Agent: t.plan.Agent.Name, Run: sim.Name, Ledger: led, Secrets: secrets,
		}),
		Prompt: symbol, Call: symbol,
		Bundle: func(string, plan.File) (io.ReadCloser, error) { return nil, errors.New("a dry run reads no bundle") },
	})
	s := &simulation{
		Schema: "joy.simulation/1", Plan: t.plan.Digest, Agent: t.plan.Agent.Name, Input: in.json,
		Waves: plan.Waves(t.plan), Boots: provider.Booted(),
	}
	if g, ok := provider.Given(setupStep); ok {
		p := t.plan.Setup
		s.Setup = &simulatedStep{
			ID: setupStep, Kind: setupStep, VM: true, Needs: []string{}, Command: g.Argv, Files: g.Files, Env: withoutToken(g.Env),
			Actions: []simulatedAction{}, Egress: p.Egress, Timeout: p.Timeout.String(), Evidence: []plan.Evidence{},
		}
	}
	for _, step := range t.plan.Steps {
		ss := simulatedStep{
			ID: step.ID, Kind: step.Kind, VM: step.NeedsVM(), Needs: step.Needs, Egress: step.Egress,
			Timeout: step.Timeout.String(), Evidence: step.Sandbox.Evidence, Actions: actionsOf(t.plan, step),
		}
		if g, ok := provider.Given(step.ID); ok {
			ss.Input, ss.Command, ss.Files, ss.Env = g.Input, g.Argv, g.Files, withoutToken(g.Env)
		} else if v, ok := given[step.ID]; ok {
			if ss.Input, err = readable(v); err != nil {
				return nil, out, err
			}
		}
		s.Steps = append(s.Steps, ss)
	}
	return s, out, nil
}

// setupStep is the id and the kind of the pseudo-step that setup makes.
const setupStep = "setup"

// withoutToken keeps a token that was never good for anything out of the output.
func withoutToken(env map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range env {
		out[k] = v
	}
	out["JOY_RUN_TOKEN"] = "<minted when the step starts>"
	return out
}

// printSimulation shows it; arg is what run is to be given, with a space before it, or "".
func (a *app) printSimulation(p *plan.Plan, s *simulation, arg string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n\n", a.out.bold.Render(p.Agent.Name), a.out.dim.Render(s.Plan))
	byID := map[string]simulatedStep{}
	for _, st := range s.Steps {
		byID[st.ID] = st
	}
	if s.Setup != nil {
		fmt.Fprintf(&b, "%s once, before the first step in the VM\n", a.out.bold.Render("setup:"))
		a.printSimulated(&b, *s.Setup, s.Boots == setupStep)
	}
	for i, wave := range s.Waves {
		fmt.Fprintf(&b, "%s %s\n", a.out.bold.Render(fmt.Sprintf("wave %d:", i+1)), strings.Join(wave, ", "))
		for _, id := range wave {
			a.printSimulated(&b, byID[id], s.Boots == id)
		}
	}
	fmt.Fprintf(&b, "\nSimulated: %s in %s; nothing was started, contacted or written.\n", plural(len(s.Steps), "step"), plural(len(s.Waves), "wave"))
	if _, err := io.WriteString(a.out, b.String()); err != nil {
		return err
	}
	a.say("next: %s", a.err.bold.Render(runCommand(p, arg)))
	return nil
}

func (a *app) printSimulated(b *strings.Builder, s simulatedStep, boots bool) {
	where := "on the host"
	if s.VM {
		where = "in the VM"
	}
	if boots {
		where += ", " + a.out.note.Render("boots it")
	}
	fmt.Fprintf(b, "  %s (%s, %s, at most %s)\n", a.out.bold.Render(s.ID), s.Kind, where, s.Timeout)
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "    %-8s %s\n", name, term.Line(value))
		}
	}
	row("command", strings.Join(s.Command, " "))
	row("input", string(s.Input))
	row("finds", strings.Join(found(s.Files), " "))
	var actions []string
	for _, act := range s.Actions {
		actions = append(actions, act.String())
	}
	row("actions", orNone(actions))
	row("network", orNone(s.Egress))
}

// found names what a step finds in /workspace: a bundle as a whole, anything else by its path.
func found(files []string) []string {
	var out []string
	bundles := map[string]int{}
	for _, f := range files {
		parts := strings.SplitN(f, "/", 3)
		if len(parts) < 3 || parts[0] != "skills" {
			out = append(out, f)
			continue
		}
		bundles[parts[1]]++
	}
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		out = slices.Insert(out, 0, fmt.Sprintf("skills/%s/ (%s)", name, plural(bundles[name], "file")))
	}
	return out
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
