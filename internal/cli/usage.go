package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
)

const codeUsage = "JOY-USAGE"

// usage turns an error of the command line itself into a fault that exits 2. A fault stays what it is.
func usage(err error, hint string, args ...any) error {
	var e *fault.Error
	if errors.As(err, &e) {
		return err
	}
	e = fault.New(fault.Input, "%s", err.Error()).WithHint(hint, args...)
	e.Code = codeUsage
	return e
}

// usagef is a usage error of cmd, with a pointer to its help.
func usagef(cmd *cobra.Command, format string, args ...any) error {
	return usage(fmt.Errorf(format, args...), "run %q", cmd.CommandPath()+" --help")
}

// argsBetween accepts min to max arguments. what names them in the message, as in "a step id".
func argsBetween(minimum, maximum int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < minimum:
			return usagef(cmd, "%s needs %s", cmd.CommandPath(), what)
		case len(args) > maximum && maximum == 0:
			return usagef(cmd, "%s takes no arguments, got %q", cmd.CommandPath(), args[0])
		case len(args) > maximum:
			return usagef(cmd, "%s takes %s only, got also %q", cmd.CommandPath(), what, args[maximum])
		}
		return nil
	}
}

// noArgs accepts none.
func noArgs(cmd *cobra.Command, args []string) error { return argsBetween(0, 0, "")(cmd, args) }

// group is a command that only holds others, such as `joy plan`.
func group(use, short, example string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: unknownCommand}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usagef(cmd, "%s needs a command: %s", cmd.CommandPath(), strings.Join(names(cmd), ", "))
	}
	cmd.AddCommand(subs...)
	return cmd
}

// unknownCommand refuses what is left of the arguments when no command has that name.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("run %q", cmd.CommandPath()+" --help")
	cmd.SuggestionsMinimumDistance = min(2, len(args[0])/2) // edits that may be slips of the fingers
	if meant := cmd.SuggestionsFor(args[0]); args[0] != "" && len(meant) > 0 {
		hint = "did you mean " + strings.Join(meant, " or ") + "?"
	}
	return usage(fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath()), "%s", hint)
}

// badFlag is cobra's FlagErrorFunc.
func badFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if meant := agent.Near(unknown.GetSpecifiedName(), flags); meant != "" {
			return usage(err, "did you mean --%s?", meant)
		}
	}
	return usage(err, "run %q", cmd.CommandPath()+" --help")
}

// names lists the commands below cmd that a person may be shown.
func names(cmd *cobra.Command) []string {
	var list []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, sub.Name())
		}
	}
	return list
}
