package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
)

func newLedgerKeyCmd(a *app) *cobra.Command {
	var asPEM bool
	cmd := &cobra.Command{
		Use:   "key [WORKSPACE]",
		Short: "Print the public key that a workspace's ledgers are sealed with",
		Long: "key prints the public half of the key that seals the ledgers of a workspace on this machine: by default that of\n" +
			"the project's lock. The key is made when it is needed first, in a file that only you can read, outside any project.\n" +
			"Hand the public half to those who are to check: joy ledger verify --key.\n" +
			"--pem prints the same key as a PUBLIC KEY block, for tools that check what joy ledger export signs.",
		Args: argsBetween(0, 1, "one workspace"),
		Example: "  joy ledger key > acme.pub\n" +
			"  joy ledger key acme --pem > acme.pem",
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
			block, err := key.Public.PEM()
			switch {
			case err != nil:
				return err
			case a.json:
				return a.printJSON(keyJSON{"joy.ledger-key/1", workspace, key.Public.Name(), key.Public.String(), block})
			case asPEM:
				_, err = io.WriteString(a.out, block)
			default:
				err = a.out.Printf("%s", key.Public)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asPEM, "pem", false, "print it as a PUBLIC KEY block")
	return cmd
}

// keyJSON is the public half of a workspace's key.
type keyJSON struct {
	Schema    string `json:"schema"`
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
	Public    string `json:"public"` // as joy reads it
	PEM       string `json:"pem"`    // as other tools do
}

// projectWorkspace is that of the lock here, if there is one.
func (a *app) projectWorkspace() string {
	if t, err := a.loadTarget(""); err == nil {
		return t.plan.Agent.Workspace
	}
	return agent.DefaultWorkspace
}
