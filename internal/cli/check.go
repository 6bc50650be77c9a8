package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

type checkJSON struct {
	Schema   string         `json:"schema"`
	Valid    bool           `json:"valid"` // always true: what is not is an error document
	Agent    string         `json:"agent"`
	Steps    int            `json:"steps"`
	Skills   int            `json:"skills"`
	Findings []plan.Finding `json:"findings"`
	Notes    []string       `json:"notes"`
	Ready    *readyJSON     `json:"ready,omitempty"` // with --ready
}

func newCheckCmd(a *app) *cobra.Command {
	var strict, ready bool
	cmd := &cobra.Command{
		Use:   "check [DIR]",
		Short: "Say whether an agent is well-formed, and with --ready whether it can run here",
		Long: "check reads joy.yaml and its bundles as a build does and writes nothing. It starts nothing and contacts nothing.\n" +
			"With --ready it goes on: is the lock here and nothing drifted, does the operator allow it, is the image here, is\n" +
			"the project trusted, are its secrets there, do its connections answer with the pinned tools, does its model answer. That starts and\n" +
			"contacts what was allowed with joy trust, and nothing before.",
		Args: argsBetween(0, 1, "one directory"),
		Example: "  joy check\n" +
			"  joy check examples/repo-report --strict\n" +
			"  joy check --ready --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.check(cmd.Context(), firstArg(args), strict, ready)
		},
	}
	cmd.Flags().BoolVar(&ready, "ready", false, "say too whether it can run here and now")
	cmd.Flags().BoolVar(&strict, "strict", false, "take every warning as an error, and the Agent Skills spec to the letter")
	return cmd
}

func (a *app) check(ctx context.Context, arg string, strict, ready bool) error {
	p, err := a.project(arg)
	if err != nil {
		return err
	}
	res, err := build.Build(ctx, build.Options{Dir: p.dir, Old: pinsOf(p), Strict: strict})
	if err != nil {
		err = p.explain(err)
		for _, e := range fault.All(err) {
			a.annotate("error", e)
		}
		return err
	}
	doc := checkJSON{
		"joy.check/1", true, res.Plan.Agent.Name, len(res.Plan.Steps), len(res.Plan.Skills), p.placed(res.Findings), notNil(res.Notes), nil,
	}
	var r readiness
	if ready {
		r = a.examineReady(ctx, arg)
		doc.Ready = &readyJSON{!r.failed(), r.checks}
	}
	if a.json {
		return errors.Join(a.printJSON(doc), exit(exitCode(r.first)))
	}
	a.annotateFindings(doc.Findings)
	a.sayFindings(doc.Findings, doc.Notes)
	err = a.out.Printf("%s is well-formed: %s, %s", doc.Agent, count(doc.Steps, "step"), count(doc.Skills, "skill"))
	if err != nil || !ready {
		return err
	}
	return errors.Join(a.writeChecks(r.checks), exit(exitCode(r.first)))
}
