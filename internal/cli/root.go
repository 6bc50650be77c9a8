package cli

import (
	"github.com/spf13/cobra"
)

// section is a heading in `joy --help` and the commands below it.
type section struct {
	id, title string
	commands  []*cobra.Command
}

// sections is the one list of commands: a line each, its code in a file of its own.
func sections(a *app) []section {
	return []section{
		{"author", "Author and freeze:", []*cobra.Command{
			newInitCmd(a),
			newSkillCmd(a),
			newCheckCmd(a),
			newBuildCmd(a),
			newPlanCmd(a),
			newFreezeCmd(a),
		}},
		{"run", "Run:", []*cobra.Command{
			newSimulateCmd(a), newReplayCmd(a),
			newRunCmd(a),
		}},
		{"record", "Look back:", []*cobra.Command{
			newLedgerCmd(a),
			newArtifactCmd(a),
		}},
		{"trust", "Trust and credentials:", []*cobra.Command{
			newTrustCmd(a),
			newConnectCmd(a),
			newSecretCmd(a),
		}},
		{"machine", "This machine:", []*cobra.Command{
			newImageCmd(a),
			newDoctorCmd(a),
			newGCCmd(a),
			newVersionCmd(a),
			newCompletionCmd(a),
		}},
	}
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "joy",
		Short: "Freeze and run agents in a throw-away VM, on the record",
		Long: "joy freezes an agent into a plan (joy.lock), runs exactly that plan in a throw-away VM, and keeps a\n" +
			"ledger of everything that happened. No credential ever enters the VM.",
		Example: "  joy init hello && cd hello\n" +
			"  joy build && joy run --input name=World\n" +
			"  joy ledger show",
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		// A command must not have a PersistentPreRunE of its own: cobra would call that one instead.
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return a.prepare(cmd) },
	}
	root.SetIn(a.env.Stdin)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(badFlag)
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.DisableDefaultCmd = true
	a.addGlobalFlags(root.PersistentFlags())
	for _, s := range sections(a) {
		root.AddGroup(&cobra.Group{ID: s.id, Title: s.title})
		for _, cmd := range s.commands {
			cmd.GroupID = s.id
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(newHelpCmd(a))
	root.AddCommand(newExitCodesTopic(a))
	a.noteStart(root)
	return root
}

// noteStart lets execute tell cobra's own complaints about flags, which end before any command began, from a
// command's errors.
func (a *app) noteStart(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.ran = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.noteStart(sub)
	}
}
