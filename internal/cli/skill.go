package cli

import (
	"github.com/spf13/cobra"
)

func newSkillCmd(a *app) *cobra.Command {
	return group("skill", "Write and check bundles",
		"  joy skill new summarise\n"+
			"  joy skill check --strict",
		newSkillNewCmd(a), newSkillCheckCmd(a))
}
