package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/secret"
)

func newSecretCmd(a *app) *cobra.Command {
	return group("secret", "Say where the values of secrets are, and to whom they may go",
		"  printf %s \"$TOKEN\" | joy secret set drive --connection drive\n"+
			"  joy secret set sales --connection sales --from 'op://work/sales/token'\n"+
			"  joy secret list",
		newSecretSetCmd(a), newSecretListCmd(a), newSecretRmCmd(a))
}

// resolver finds the values of secrets for one run. Nothing is read before it is asked for one, which only a trusted project
// may do: see requireTrust.
func (a *app) resolver(known *secret.Set) *secret.Resolver {
	return secret.NewResolver(secret.ResolverConfig{
		ConfigDir: a.cfg.Dirs.Config, Home: a.home(), LookupEnv: a.env.LookupEnv, Set: known,
	})
}

// home is the user's, or "".
func (a *app) home() string {
	for _, key := range []string{"HOME", "USERPROFILE"} {
		if dir, _ := a.env.LookupEnv(key); dir != "" {
			return dir
		}
	}
	return ""
}

type secretJSON struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Origin string `json:"origin"`
}

func newSecretListCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the secrets that joy knows of, without their values",
		Args:  noArgs,
		Example: "  joy secret list\n" +
			"  joy secret list --json",
		RunE: func(*cobra.Command, []string) error { return a.secretList() },
	}
}

func (a *app) secretList() error {
	s, err := secret.OpenStore(a.cfg.Dirs.Config)
	if err != nil {
		return err
	}
	out := []secretJSON{}
	for _, e := range s.Entries {
		out = append(out, secretJSON{e.Name, e.Ref.Kind, e.Origin.String()})
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.secret-list/1", "secrets": out})
	}
	if len(out) == 0 {
		a.say("joy knows of no secrets; joy secret set NAME --connection NAME")
		return nil
	}
	t := a.out.newTable("NAME", "KIND", "FOR")
	for _, e := range out {
		t.row(plain(e.Name, e.Kind, e.Origin)...)
	}
	return t.print()
}

func newSecretRmCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "rm NAME",
		Short: "Forget a secret, and remove its value where joy put it",
		Args:  argsBetween(1, 1, "the name of a secret"),
		Example: "  joy secret rm drive\n" +
			"  joy secret rm drive --json",
		RunE: func(cmd *cobra.Command, args []string) error { return a.secretRemove(cmd.Context(), args[0]) },
	}
}

func (a *app) secretRemove(ctx context.Context, name string) error {
	s, err := secret.OpenStore(a.cfg.Dirs.Config)
	if err != nil {
		return err
	}
	e, ok := s.Find(name)
	if !ok {
		return usage(errors.New("joy knows of no secret of that name"), "joy secret list")
	}
	stays, err := secret.Forget(ctx, a.cfg.Dirs.Config, e)
	if err != nil {
		return err
	}
	if err := s.Remove(name); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.secret-rm/1", "name": name, "value_removed": !stays})
	}
	if stays {
		a.say("forgot where %s is; its value stays there (%s:)", name, e.Ref.Kind)
		return nil
	}
	a.say("forgot %s, and removed its value from %s", name, placeOf(e.Ref))
	return nil
}

// placeOf says where joy keeps a value of its own.
func placeOf(r secret.Ref) string {
	if r.Kind == secret.KindKeyring {
		return "the keyring"
	}
	return r.Path
}
