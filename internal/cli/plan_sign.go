package cli

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/build"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/signature"
	"github.com/joystream-ai/joy/internal/state"
)

func newPlanSignCmd(a *app) *cobra.Command {
	var o struct {
		key, name string
		public    bool
	}
	cmd := &cobra.Command{
		Use:   "sign [DIR|LOCK]",
		Short: "Stand for a plan with your key",
		Long: "sign writes joy.lock.sig beside the lock: who stands for which plan digest. The key is made when it is needed\n" +
			"first, in a file that only you can read; hand its public half (--public) to those who are to check.",
		Args: argsBetween(0, 1, "one project or lock"),
		Example: "  joy plan sign\n" +
			"  joy plan sign --public > alice.pub\n" +
			"  joy plan verify --key alice.pub",
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.public && len(args) > 0 {
				return usagef(cmd, "--public prints a key and signs nothing")
			}
			path := filepath.Join(a.cfg.Dirs.Config, "author.key")
			if o.key != "" {
				path = a.abs(o.key)
			}
			if o.public {
				return a.printPublic(path, o.name)
			}
			return a.planSign(firstArg(args), path, o.name)
		},
	}
	cmd.Flags().StringVar(&o.key, "key", "", "sign with the private key in `FILE` instead of your own")
	cmd.Flags().StringVar(&o.name, "name", "", "call the signer `NAME` when the key is made (default your user name)")
	cmd.Flags().BoolVar(&o.public, "public", false, "print the public half of the key")
	return cmd
}

// authorKey reads the key at path (absolute), or makes it for name.
func (a *app) authorKey(path, name string) (signature.Key, error) {
	key, err := signature.ReadKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	for _, variable := range []string{"USER", "LOGNAME", "USERNAME"} {
		if name == "" {
			name, _ = a.env.LookupEnv(variable)
		}
	}
	if key, err = signature.NewKey(path, name, rand.Reader); err != nil {
		return key, err
	}
	a.say("made a key for %s in %s; keep it to yourself", key.Public.Name(), path)
	return key, nil
}

func (a *app) printPublic(path, name string) error {
	key, err := a.authorKey(path, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]string{"schema": "joy.plan-key/1", "name": key.Public.Name(), "public": key.Public.String()})
	}
	err = a.out.Printf("%s", key.Public)
	return err
}

func (a *app) planSign(arg, keyPath, name string) error {
	if state.ValidID(arg) && !a.isPath(arg) {
		return usage(errors.New("the plan of a run is a record: what is signed is a lock"), "joy plan sign DIR")
	}
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	key, err := a.authorKey(keyPath, name)
	if err != nil {
		return err
	}
	path := a.lockFile(arg) + signature.Suffix
	old, err := ordinary.Read(path, signature.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Input, err, "read the old signature").At(t.name+signature.Suffix, 0, 0)
	}
	sig, err := signature.Sign(t.plan, key, old)
	if err != nil {
		return err
	}
	changed, err := build.WriteLock(path, sig)
	if err != nil {
		return fault.Wrap(fault.Input, err, "sign the plan").At(t.name+signature.Suffix, 0, 0)
	}
	if a.json {
		return a.printJSON(map[string]any{
			"schema": "joy.plan-sign/1", "lock": t.name, "signature": t.name + signature.Suffix, "plan_digest": t.plan.Digest,
			"signer": key.Public.Name(), "public": key.Public.String(), "written": changed,
		})
	}
	err = a.out.Printf("%s stands for %s (%s)", key.Public.Name(), a.shown(t.plan.Digest), t.name+signature.Suffix)
	return err
}
