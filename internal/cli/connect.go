package cli

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/trust"
)

func newConnectCmd(a *app) *cobra.Command {
	return group("connect", "Add, list and test the outside services of an agent",
		"  joy connect add drive --url https://mcp.example.com/drive --bearer drive\n"+
			"  joy connect test\n"+
			"  joy connect rm drive",
		newConnectAddCmd(a), newConnectListCmd(a), newConnectTestCmd(a), newConnectRmCmd(a))
}

func newConnectListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list [DIR]",
		Short: "List the connections that joy.yaml declares",
		Long:  "list reads joy.yaml. It starts nothing and contacts nothing.",
		Args:  argsBetween(0, 1, "one project"),
		Example: "  joy connect list\n" +
			"  joy connect list examples/weekly-report --json",
		RunE: func(_ *cobra.Command, args []string) error { return a.connectList(firstArg(args)) },
	}
}

func (a *app) connectList(arg string) error {
	sub, err := a.subject(arg)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.connect-list/1", "connections": sub.Connections})
	}
	if len(sub.Connections) == 0 {
		a.say("joy.yaml declares no connections")
		return nil
	}
	t := a.out.newTable("NAME", "SECRETS", "WHAT")
	for _, c := range sub.Connections {
		t.row(plain(c.Name, secretsOf(c), addressOf(c))...)
	}
	return t.print()
}

// secretsOf names the secrets that a connection gets: "TOKEN=sales".
func secretsOf(c trust.Connection) string {
	if len(c.Secrets) == 0 {
		return "-"
	}
	uses := make([]string, len(c.Secrets))
	for i, u := range c.Secrets {
		uses[i] = u.As + "=" + u.Secret
	}
	return strings.Join(uses, " ")
}

// addressOf is the URL or the command of a connection.
func addressOf(c trust.Connection) string {
	if c.URL != "" {
		return c.URL
	}
	return strings.Join(c.Argv, " ")
}

// noConnection is the error that nothing of that name is declared.
func noConnection(name string, sub trust.Subject) error {
	names := make([]string, len(sub.Connections))
	for i, c := range sub.Connections {
		names[i] = c.Name
	}
	e := fault.New(fault.Input, "joy.yaml declares no connection %q", name).At(trust.SpecName, 0, 0)
	if near := agent.DidYouMean(name, names); near != "" {
		return e.WithHint("%s", near)
	}
	return e.WithHint("joy connect add %s …, or joy connect list", name)
}

type connectAddOptions struct {
	command, env           []string
	url, bearer, unconfine string
}

func newConnectAddCmd(a *app) *cobra.Command {
	var o connectAddOptions
	cmd := &cobra.Command{
		Use:   "add NAME (--url URL | --command PROGRAM [-- ARGUMENT…])",
		Short: "Declare a connection in joy.yaml",
		Long: "add writes one line into joy.yaml and leaves every other byte as it is. It starts nothing and contacts nothing:\n" +
			"that is joy connect test, after joy trust.",
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) == 0 || at < 0 && len(args) > 1 || at > 1 {
				return usagef(cmd, "%s takes one name; a command's arguments come after --", cmd.CommandPath())
			}
			return nil
		},
		Example: "  joy connect add drive --url https://mcp.example.com/drive --bearer drive\n" +
			"  joy connect add files --command npx -- -y @modelcontextprotocol/server-filesystem@2026.7.10 out\n" +
			"  joy connect add sales --command ./bin/sales-mcp --env SALES_TOKEN=sales",
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 0 {
				return usagef(cmd, "%s takes one name; a command's arguments come after --", cmd.CommandPath())
			}
			o.command = append(slices.Clone(o.command), args[1:]...)
			if (len(o.command) == 0) == (o.url == "") {
				return usage(errors.New("a connection is a --command or a --url, and only one"), "run %q", cmd.CommandPath()+" --help")
			}
			return a.connectAdd(args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&o.command, "command", nil, "the `PROGRAM` that is the server; its arguments come after --")
	flags.StringVar(&o.url, "url", "", "the `URL` of the server")
	flags.StringArrayVar(&o.env, "env", nil, "give the program a secret as a variable: `VARIABLE=SECRET`; may be repeated")
	flags.StringVar(&o.bearer, "bearer", "", "send the `SECRET` to the URL as a bearer token")
	flags.StringVar(&o.unconfine, "unconfined", "", "let the program read and write what you may, for this `REASON`")
	return cmd
}

func newConnectRmCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a connection from joy.yaml",
		Args:  argsBetween(1, 1, "the name of a connection"),
		Example: "  joy connect rm drive\n" +
			"  joy -C examples/weekly-report connect rm drive",
		RunE: func(_ *cobra.Command, args []string) error { return a.connectRemove(args[0]) },
	}
}
