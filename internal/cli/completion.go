package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:       "completion " + strings.Join(shells, "|"),
		Short:     "Print a completion script for a shell",
		ValidArgs: shells,
		Args:      argsBetween(1, 1, "a shell: "+strings.Join(shells, ", ")),
		Example: "  source <(joy completion bash)\n" +
			"  joy completion zsh > \"${fpath[1]}/_joy\"\n" +
			"  joy completion fish > ~/.config/fish/completions/joy.fish",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out.raw, true)
			case "zsh":
				return root.GenZshCompletion(a.out.raw)
			case "fish":
				return root.GenFishCompletion(a.out.raw, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out.raw)
			}
			return usagef(cmd, "no completion for %q: want one of %s", args[0], strings.Join(shells, ", "))
		},
	}
}
