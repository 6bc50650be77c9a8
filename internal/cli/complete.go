package cli

import (
	"github.com/spf13/cobra"
)

// completeRuns offers the ids of past runs; it is the ValidArgsFunction of commands whose first argument is a run.
func (a *app) completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || a.cfg == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, err := a.existingState(a.dir)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	runs, err := dir.Runs()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	ids := []string{"latest"}
	for _, run := range runs {
		ids = append(ids, run.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
