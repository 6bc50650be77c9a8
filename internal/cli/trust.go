package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/term"
	"github.com/joystream-ai/joy/internal/trust"
)

func newTrustCmd(a *app) *cobra.Command {
	var list, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Show what a project would start or contact on this machine, and allow it",
		Long: "trust shows every program that a project would start on this machine, every server it would contact, the secrets\n" +
			"they would be given and the hosts its VM may reach, and asks whether you allow that. Before you do, nothing of it\n" +
			"happens. A change asks again. Off a terminal it exits 4 and prints the variable that would allow it.",
		Args: argsBetween(0, 1, "one project"),
		Example: "  joy trust\n" +
			"  joy trust --list\n" +
			"  joy trust --revoke examples/weekly-report",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && (revoke || len(args) > 0):
				return usagef(cmd, "--list is of every project and takes nothing else")
			case list:
				return a.trustList()
			case revoke:
				return a.trustRevoke(firstArg(args))
			}
			return a.trustProject(cmd.Context(), firstArg(args))
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list what was allowed, for every project")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take back what was allowed for the project")
	return cmd
}

func (a *app) trusted() *trust.Store { return trust.Open(a.cfg.Dirs.State) }

// subject is what the project in arg would do on this machine.
func (a *app) subject(arg string) (trust.Subject, error) {
	p, err := a.project(arg)
	if err != nil {
		return trust.Subject{}, err
	}
	sub, err := trust.OfDir(p.dir)
	return sub, p.explain(err)
}

// requireTrust is nil when the user has allowed what the project would do, asks on a terminal, and is of kind Consent
// elsewhere. Whatever starts a connection, contacts a host or resolves a secret calls it first.
func (a *app) requireTrust(ctx context.Context, sub trust.Subject) error {
	err := a.trusted().Check(sub, a.env.LookupEnv)
	if err == nil || fault.KindOf(err) != fault.Consent || !a.canAsk() {
		return err
	}
	if err := a.showSubject(a.err, sub); err != nil {
		return err
	}
	return a.askTrust(ctx, sub)
}

func (a *app) trustProject(ctx context.Context, arg string) error {
	sub, err := a.subject(arg)
	if err != nil {
		return err
	}
	missing := a.trusted().Check(sub, a.env.LookupEnv)
	if a.json {
		return errors.Join(a.printTrust(sub, missing == nil), exit(exitCode(missing)))
	}
	if err := a.showSubject(a.out, sub); err != nil {
		return err
	}
	switch {
	case missing == nil && !sub.Empty():
		a.say("that is allowed")
		return nil
	case missing != nil && fault.KindOf(missing) == fault.Consent && a.canAsk():
		return a.askTrust(ctx, sub)
	}
	return missing
}

func (a *app) printTrust(sub trust.Subject, allowed bool) error {
	return a.printJSON(struct {
		Schema  string        `json:"schema"`
		Project string        `json:"project"`
		Digest  string        `json:"digest"`
		Allowed bool          `json:"allowed"`
		Would   []string      `json:"would"`
		Subject trust.Subject `json:"subject"`
	}{"joy.trust/1", sub.Project, sub.Digest(), allowed, notNil(sub.Lines()), sub})
}

// showSubject prints the subject, or against what was allowed earlier what is new and gone.
func (a *app) showSubject(to *ui, sub trust.Subject) error {
	project := term.Line(sub.Project)
	if sub.Empty() {
		_, err := fmt.Fprintf(to, "%s would start nothing and contact nothing on this machine\n", project)
		return err
	}
	text := project + " would, on this machine:\n"
	for _, l := range sub.Lines() {
		text += "  " + term.Line(l) + "\n"
	}
	old, ok, err := a.trusted().Find(sub.Project)
	if err != nil {
		return err
	}
	if changes := sub.Changes(old.Subject); ok && len(changes) > 0 {
		text += "since you allowed it on " + old.At.Format(time.DateOnly) + ":\n"
		for _, l := range changes {
			style := &to.warn
			if l[0] == '-' {
				style = &to.dim
			}
			text += "  " + style.Render(term.Line(l)) + "\n"
		}
	}
	_, err = to.Write([]byte(text))
	return err
}

func (a *app) askTrust(ctx context.Context, sub trust.Subject) error {
	// The number tells that something has left the screen at the top.
	answer, err := a.ask(ctx, fmt.Sprintf("Type yes to allow exactly that (%s): ", count(len(sub.Lines()), "thing")))
	if err != nil {
		return err
	}
	if answer != "yes" {
		e := fault.New(fault.Consent, "it was not allowed: the answer was not yes")
		e.Code = trust.Code
		return e
	}
	if err := a.trusted().Allow(sub, time.Now()); err != nil {
		return err
	}
	a.say("allowed; joy trust --revoke takes it back")
	return nil
}

func (a *app) trustList() error {
	all, err := a.trusted().List()
	if a.json {
		return errors.Join(err, a.printJSON(map[string]any{"schema": "joy.trust-list/1", "projects": all}))
	}
	if err != nil || len(all) == 0 {
		a.say("nothing was allowed for any project")
		return err
	}
	t := a.out.newTable("PROJECT", "SINCE", "ALLOWED")
	for _, p := range all {
		t.row(plain(p.Project, p.At.Format(time.DateOnly), count(len(p.Subject.Lines()), "thing"))...)
	}
	return t.print()
}

func (a *app) trustRevoke(arg string) error {
	if arg == "" {
		arg = "."
	}
	path := a.abs(arg) // the project may be gone
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	was, err := a.trusted().Revoke(path)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.trust-revoke/1", "project": path, "revoked": was})
	}
	if !was {
		a.say("nothing was allowed for %s", term.Line(path))
		return nil
	}
	a.say("nothing is allowed for %s any more", term.Line(path))
	return nil
}
