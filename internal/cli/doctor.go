package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/doctor"
	"github.com/joystream-ai/joy/internal/term"
)

func newDoctorCmd(a *app) *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say whether this machine can run agents",
		Long: "Say whether this machine can run agents. Each check is ok, warn or fail, with the command that fixes it.\n" +
			"With --deep it also boots a VM and runs a command in it. In the directory of an agent that is trusted it asks\n" +
			"whether its model answers, which spends nothing. Any fail exits 6. Whether its connections answer as well, and\n" +
			"whether all of its secrets can be had: joy check --ready.",
		Args: noArgs,
		Example: "  joy doctor\n" +
			"  joy doctor --deep\n" +
			"  joy doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks := a.examine(cmd.Context(), deep)
			if err := a.printChecks(checks); err != nil {
				return err
			}
			if !a.json {
				a.say("whether an agent's connections and secrets answer: joy check --ready in its directory")
			}
			if doctor.Failed(checks) {
				return exit(6)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "boot a VM and run a command in it")
	return cmd
}

func (a *app) examine(ctx context.Context, deep bool) []doctor.Check {
	m := doctor.Machine{
		CacheDir: a.cfg.Dirs.Cache, StateDir: a.cfg.Dirs.State, ScratchDir: os.TempDir(), LookupEnv: a.env.LookupEnv,
		Accel: a.cfg.Accel, MaxVMs: a.cfg.MaxVMs, VMAlive: a.vmAlive,
	}
	checks := append(doctor.Run(ctx, m), append(a.checkE2B(ctx), a.checkKata(ctx, deep)...)...)
	checks = append(checks, a.checkModel(ctx)...)
	if deep {
		a.say("booting a VM; under emulation this takes seconds")
		checks = append(checks, doctor.Boot(ctx, m, a.queue())...)
	}
	return checks
}

func (a *app) printChecks(checks []doctor.Check) error {
	if a.json {
		return a.printJSON(struct {
			Schema string         `json:"schema"`
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{"joy.doctor/1", !doctor.Failed(checks), checks})
	}
	return a.writeChecks(checks)
}

// writeChecks prints checks for people.
func (a *app) writeChecks(checks []doctor.Check) error {
	styles := map[doctor.Status]*lipgloss.Style{doctor.OK: &a.out.good, doctor.Warn: &a.out.warn, doctor.Fail: &a.out.fail}
	count := map[doctor.Status]int{}
	widest := 0
	for _, c := range checks {
		widest = max(widest, len(c.ID))
	}
	var b strings.Builder
	for _, c := range checks {
		count[c.Status]++
		fmt.Fprintf(&b, "%s  %-*s  %s\n", styles[c.Status].Render(fmt.Sprintf("%-4s", c.Status)), widest, c.ID, a.hang(c.Detail, widest+8))
		if c.Fix != "" {
			fmt.Fprintf(&b, "%*s%s %s\n", widest+8, "", a.out.note.Render("fix:"), a.hang(c.Fix, widest+13))
		}
	}
	fmt.Fprintf(&b, "%d ok, %d warn, %d fail\n", count[doctor.OK], count[doctor.Warn], count[doctor.Fail])
	_, err := a.out.Write([]byte(b.String()))
	return err
}

// hang wraps a text that begins at the given column of a terminal, so that no word of it is cut. Elsewhere it stays one
// line.
func (a *app) hang(text string, column int) string {
	text = term.Line(text)
	if !a.out.tty {
		return text
	}
	wrapped := ansi.Wrap(text, max(a.out.width-column, 20), "")
	return strings.ReplaceAll(wrapped, "\n", "\n"+strings.Repeat(" ", column))
}
