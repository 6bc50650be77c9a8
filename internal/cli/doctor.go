package cli

import (
	"fmt"

	"github.com/charmbracelet/lipgloss"
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/doctor"
)

func newDoctorCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine can run agents",
		Long:  "Say whether this machine can run agents. Each check is ok, warn or fail, with the command that fixes it.",
		Args:  noArgs,
		Example: "  joy doctor\n" +
			"  joy doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := doctor.Run(cmd.Context(), doctor.Machine{
				CacheDir: a.cfg.Dirs.Cache, StateDir: a.cfg.Dirs.State, LookupEnv: a.env.LookupEnv,
			})
			if err := a.printChecks(checks); err != nil {
				return err
			}
			if doctor.Failed(checks) {
				return exit(6)
			}
			return nil
		},
	}
}

func (a *app) printChecks(checks []doctor.Check) error {
	if a.json {
		return a.printJSON(struct {
			Schema string         `json:"schema"`
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{"joy.doctor/1", !doctor.Failed(checks), checks})
	}
	styles := map[doctor.Status]*lipgloss.Style{doctor.OK: &a.out.good, doctor.Warn: &a.out.warn, doctor.Fail: &a.out.fail}
	count := map[doctor.Status]int{}
	t := a.out.newTable("STATUS", "CHECK", "FOUND", "FIX")
	for _, c := range checks {
		t.row(cell{string(c.Status), styles[c.Status]}, cell{text: c.ID}, cell{text: c.Detail}, cell{text: c.Fix})
		count[c.Status]++
	}
	if err := t.print(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(a.out, "%d ok, %d warn, %d fail\n", count[doctor.OK], count[doctor.Warn], count[doctor.Fail])
	return err
}
