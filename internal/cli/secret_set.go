package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/secret"
	joyterm "github.com/joystream-ai/joy/internal/term"
)

// maxSecretInput bounds a value on stdin, in bytes.
const maxSecretInput = 64 << 10

type secretSetOptions struct {
	origin, connection, from string
	passEnv                  []string
}

func newSecretSetCmd(a *app) *cobra.Command {
	var o secretSetOptions
	cmd := &cobra.Command{
		Use:   "set NAME (--for URL | --connection NAME)",
		Short: "Store a secret for one origin, or say where it is",
		Long: "set reads the value from a hidden prompt or from stdin, never from an argument, and stores it in the keyring, or\n" +
			"on a machine without one in an encrypted file. With --from it stores where the value is instead:\n" +
			"env:NAME, file:/path, keyring:service/name, age:/path#key, cmd:[\"program\",\"argument\"] or op://vault/item/field.\n" +
			"The secret goes to the one origin that is named here and to no other.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 { // what is too much may be the value, and is not repeated
				return usagef(cmd, "%s takes the name of a secret and nothing else; the value comes on stdin", cmd.CommandPath())
			}
			return nil
		},
		Example: "  printf %s \"$TOKEN\" | joy secret set drive --connection drive\n" +
			"  joy secret set anthropic --for https://api.anthropic.com\n" +
			"  joy secret set sales --connection sales --from 'cmd:[\"vault\",\"read\",\"-field=token\",\"secret/sales\"]' --pass-env VAULT_ADDR",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !secret.SecretName.MatchString(args[0]):
				return usagef(cmd, "that is no name of a secret: it is 1 to 64 of A-Z, a-z, 0-9, _ and -")
			case (o.origin == "") == (o.connection == ""):
				return usagef(cmd, "say to whom the secret may go, with --for or --connection")
			case len(o.passEnv) > 0 && o.from == "":
				return usagef(cmd, "--pass-env is for the program of --from")
			}
			return a.secretSet(cmd.Context(), args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.origin, "for", "", "the `URL` of the server that may get it")
	flags.StringVar(&o.connection, "connection", "", "the connection `NAME` of this project's joy.yaml that may get it")
	flags.StringVar(&o.from, "from", "", "store this `REFERENCE` to the value instead of a value")
	flags.StringArrayVar(&o.passEnv, "pass-env", nil, "let the program of --from see the variable `NAME`; may be repeated")
	return cmd
}

func (a *app) secretSet(ctx context.Context, name string, o secretSetOptions) error {
	e := secret.Entry{Name: name, PassEnv: o.passEnv}
	var err error
	if e.Origin, err = a.originOf(o); err != nil {
		return err
	}
	if _, err := secret.OpenStore(a.cfg.Dirs.Config); err != nil { // no value is asked for that could not be kept
		return err
	}
	var why error
	if o.from != "" {
		e.Ref, err = secret.ParseRef(o.from)
	} else {
		var value secret.Value
		if value, err = a.readSecret(ctx, name, e.Origin); err == nil {
			e.Ref, why, err = secret.Keep(ctx, a.cfg.Dirs.Config, name, value)
		}
	}
	if err != nil {
		return err
	}
	s, err := secret.OpenStore(a.cfg.Dirs.Config) // as it is now: a person may have taken long to type
	if err != nil {
		return err
	}
	old, replaced := s.Find(name)
	if err := s.Put(e); err != nil {
		return err
	}
	if replaced && old.Ref.String() != e.Ref.String() {
		if _, err := secret.Forget(ctx, a.cfg.Dirs.Config, old); err != nil {
			a.warn("the earlier value of %s could not be removed: %v", name, err)
		}
	}
	if a.json {
		return a.printJSON(struct {
			Schema string `json:"schema"`
			secretJSON
		}{"joy.secret-set/1", secretJSON{name, e.Ref.Kind, e.Origin.String()}})
	}
	where := "it is read from " + e.Ref.Kind + ":"
	if o.from == "" {
		where = "stored in " + placeOf(e.Ref)
	}
	if why != nil {
		where += fmt.Sprintf(", encrypted, since no keyring answers (%v); what opens it lies beside it", why)
	}
	a.say("%s is for %s; %s", name, joyterm.Line(e.Origin.String()), joyterm.Line(where))
	return nil
}

// originOf is the one place the secret may go to. A connection is looked up in joy.yaml, which is shown by its address and
// not by its name: the name is the project's word.
func (a *app) originOf(o secretSetOptions) (secret.Origin, error) {
	if o.origin != "" {
		return secret.OriginOfURL(o.origin)
	}
	sub, err := a.subject("")
	if err != nil {
		return secret.Origin{}, err
	}
	c, ok := sub.Connection(o.connection)
	if !ok {
		return secret.Origin{}, noConnection(o.connection, sub)
	}
	return sub.Origin(c)
}

// readSecret takes the value from stdin: typed without being shown on a terminal, whole elsewhere.
func (a *app) readSecret(ctx context.Context, name string, origin secret.Origin) (secret.Value, error) {
	f, isFile := a.env.Stdin.(*os.File)
	if isFile && a.canAsk() {
		value, err := a.typedUnseen(ctx, f, fmt.Sprintf("Value of %s, for %s (not shown): ", name, joyterm.Line(origin.String())))
		if err != nil {
			return secret.Value{}, fault.Wrap(fault.Consent, err, "read the value of %s", name)
		}
		return secret.NewValue(value), nil
	}
	if joyterm.IsTerminal(a.env.Stdin) { // it would be shown while it is typed
		return secret.Value{}, usage(errors.New("the value is asked for on a terminal only without --json, and with stderr on it"), "joy secret set %s < FILE", name)
	}
	value, err := io.ReadAll(io.LimitReader(a.env.Stdin, maxSecretInput+1))
	switch {
	case err != nil:
		return secret.Value{}, fault.Wrap(fault.Input, err, "read the value of %s from stdin", name)
	case len(value) > maxSecretInput:
		return secret.Value{}, fault.New(fault.Input, "the value of %s is larger than %d KiB", name, maxSecretInput>>10)
	case len(value) == 0:
		return secret.Value{}, fault.New(fault.Input, "there is no value of %s on stdin", name).
			WithHint("printf %%s \"$TOKEN\" | joy secret set %s …, or say where it is with --from", name)
	}
	return secret.NewValue(value), nil
}

// typedUnseen asks on a terminal for a line that is not shown. Nothing is shown from before the question on, and the terminal
// is as it was when this returns, also when the question is given up.
func (a *app) typedUnseen(ctx context.Context, f *os.File, question string) ([]byte, error) {
	fd := int(f.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	defer fmt.Fprintln(a.err)
	defer func() { _ = term.Restore(fd, before) }()
	forgetTyped(f)
	fmt.Fprint(a.err, question)
	type reply struct {
		value []byte
		err   error
	}
	done := make(chan reply, 1)
	go func() {
		value, err := term.ReadPassword(fd)
		done <- reply{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
