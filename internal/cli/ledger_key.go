package cli

import (
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
)

func newLedgerKeyCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "key [WORKSPACE]",
		Short: "Print the public key that a workspace's ledgers are sealed with",
		Long: "key prints the public half of the key that seals the ledgers of a workspace on this machine: by default that of\n" +
			"the project's lock. The key is made when it is needed first, in a file that only you can read, outside any project.\n" +
			"Hand the public half to those who are to check: joy ledger verify --key.",
		Args: argsBetween(0, 1, "one workspace"),
		Example: "  joy ledger key > acme.pub\n" +
			"  joy ledger key acme",
		RunE: func(_ *cobra.Command, args []string) error {
			workspace := firstArg(args)
			if workspace == "" {
				workspace = a.projectWorkspace()
			}
			if !workspaceForm.MatchString(workspace) {
				return fault.New(fault.Input, "%q is no name of a workspace", workspace)
			}
			key, err := a.workspaceKey(workspace)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"schema": "joy.ledger-key/1", "workspace": workspace, "name": key.Public.Name(), "public": key.Public.String()})
			}
			err = a.out.Printf("%s", key.Public)
			return err
		},
	}
}

// projectWorkspace is that of the lock here, if there is one.
func (a *app) projectWorkspace() string {
	if t, err := a.loadTarget(""); err == nil {
		return t.plan.Agent.Workspace
	}
	return agent.DefaultWorkspace
}
