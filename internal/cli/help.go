package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// usageTemplate is cobra's with the examples last: the end of the text is what stays on the screen.
const usageTemplate = `Usage:{{if and .Runnable (not .HasAvailableSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND{{end}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}{{if .HasAvailableSubCommands}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

Topics:
  joy help exit-codes{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}

Examples:
{{.Example}}
`

func newHelpCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Explain a command or a topic",
		Example: "  joy help run\n" +
			"  joy help exit-codes",
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(target, rest)
			}
			if target.Name() == "exit-codes" {
				return a.printExitCodes()
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// newExitCodesTopic is hidden: it is a page of `joy help`, not a thing joy does.
func newExitCodesTopic(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "exit-codes",
		Short:  "What joy's exit codes mean",
		Hidden: true,
		Args:   noArgs,
		Example: "  joy help exit-codes\n" +
			"  joy help exit-codes --json",
		RunE: func(*cobra.Command, []string) error { return a.printExitCodes() },
	}
}

func (a *app) printExitCodes() error {
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.exit-codes/1", "exit_codes": exits})
	}
	var b strings.Builder
	for _, e := range exits {
		fmt.Fprintf(&b, "%4s  %s\n", e.Code, e.Meaning)
	}
	b.WriteString("\nOf several: a VM that may still be alive, then a signal, then the first failure in the ledger.\n" +
		"A run with a denied tool or a failed step never exits 0.\n")
	_, err := fmt.Fprint(a.out, b.String())
	return err
}
