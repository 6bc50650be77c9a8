package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

func newPlanCmd(a *app) *cobra.Command {
	return group("plan", "Read a frozen plan",
		"  joy plan show\n"+
			"  joy plan diff . main --fail-on widen",
		newPlanShowCmd(a), newPlanDiffCmd(a), newPlanGraphCmd(a), newPlanSignCmd(a), newPlanVerifyCmd(a))
}

func newPlanShowCmd(a *app) *cobra.Command {
	var step string
	cmd := &cobra.Command{
		Use:   "show [DIR|LOCK|RUN]",
		Short: "Print the steps of a plan and why each is, or is not, in the VM",
		Args:  argsBetween(0, 1, "one project, lock or run"),
		Example: "  joy plan show\n" +
			"  joy plan show --why render",
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := a.loadTarget(firstArg(args))
			if err != nil {
				return err
			}
			if step == "" {
				var signed signatureJSON
				if !t.kept {
					signed = a.signatureOf(t.plan, a.lockFile(firstArg(args)))
				}
				return a.showPlan(t, signed)
			}
			s, ok := t.plan.Step(step)
			if !ok {
				e := fault.New(fault.Input, "the plan has no step %q", step).At(t.name, 0, 0)
				e.Code, e.Hint = codeUsage, agent.DidYouMean(step, plan.Order(t.plan))
				return e
			}
			return a.showWhy(t, s)
		},
	}
	cmd.Flags().StringVar(&step, "why", "", "print all that is known of `STEP`: evidence, grants, input")
	return cmd
}

// drawings by the name of their format.
var drawings = map[string]func(*plan.Plan) string{"dot": plan.Dot, "mermaid": plan.Mermaid, "svg": plan.SVG}

func newPlanGraphCmd(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "graph [DIR|LOCK|RUN]",
		Short: "Draw the graph of a plan",
		Args:  argsBetween(0, 1, "one project, lock or run"),
		Example: "  joy plan graph --format mermaid\n" +
			"  joy plan graph --format svg > plan.svg",
		RunE: func(cmd *cobra.Command, args []string) error {
			draw, ok := drawings[strings.ToLower(format)]
			if !ok {
				return usagef(cmd, "--format %q: it is dot, mermaid or svg", format)
			}
			t, err := a.loadTarget(firstArg(args))
			if err != nil {
				return err
			}
			text := draw(t.plan)
			if a.json {
				return a.printJSON(struct {
					Schema string `json:"schema"`
					Format string `json:"format"`
					Text   string `json:"text"`
				}{"joy.plan-graph/1", strings.ToLower(format), text})
			}
			_, err = io.WriteString(a.out, text)
			return err
		},
	}
	cmd.Flags().StringVar(&format, "format", "dot", "`FORMAT`: dot, mermaid or svg")
	return cmd
}
