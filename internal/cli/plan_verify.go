package cli

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/signature"
)

func newPlanVerifyCmd(a *app) *cobra.Command {
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify [DIR|LOCK]",
		Short: "Hold that somebody you trust stands for a plan",
		Long: "verify exits 0 when one of the given keys has signed the plan as it is now, 4 when none has, and 3 when the\n" +
			"signature is of another plan. Without --key it asks for your own.",
		Args: argsBetween(0, 1, "one project or lock"),
		Example: "  joy plan verify --key alice.pub\n" +
			"  joy plan verify --key joy-author/alice+9b2f04c1+AZ…",
		RunE: func(_ *cobra.Command, args []string) error { return a.planVerify(firstArg(args), keys) },
	}
	cmd.Flags().StringArrayVar(&keys, "key", nil, "a public `KEY` that is trusted, or a file with one; may be repeated")
	return cmd
}

func (a *app) planVerify(arg string, given []string) error {
	keys, err := a.publicKeys(given)
	if err != nil {
		return err
	}
	t, err := a.loadTarget(arg)
	if err != nil {
		return err
	}
	sig, err := ordinary.Read(a.lockFile(arg)+signature.Suffix, signature.MaxBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Input, err, "read the signature").At(t.name+signature.Suffix, 0, 0)
	}
	signers, err := signature.Require(t.plan, sig, t.name+signature.Suffix, keys...)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"schema": "joy.plan-verify/1", "lock": t.name, "plan_digest": t.plan.Digest, "signers": signers})
	}
	for _, s := range signers {
		if s.Verified {
			if err := a.out.Printf("%s stands for %s", s.Name, a.shown(t.plan.Digest)); err != nil {
				return err
			}
		}
	}
	return nil
}

// publicKeys reads what --key names; without any it is the user's own.
func (a *app) publicKeys(given []string) ([]signature.PublicKey, error) {
	if len(given) == 0 {
		own, err := signature.ReadKey(filepath.Join(a.cfg.Dirs.Config, "author.key"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usage(errors.New("whose signature is to be there? you have no key of your own"), "joy plan verify --key PUB")
		}
		return []signature.PublicKey{own.Public}, err
	}
	var keys []signature.PublicKey
	for _, text := range given {
		if a.isPath(text) {
			data, err := ordinary.Read(a.abs(text), signature.MaxBytes)
			if err != nil {
				return nil, fault.Wrap(fault.Input, err, "read the key").At(text, 0, 0)
			}
			text = string(data)
		}
		key, err := signature.ParsePublic(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// signatureJSON is what plan show says of joy.lock.sig.
type signatureJSON struct {
	Present bool               `json:"present"`
	Problem string             `json:"problem,omitempty"` // why it is no signature of this plan
	Signers []signature.Signer `json:"signers"`
}

// signatureOf reads the signature beside a lock. Only the user's own key is known here: for others there is verify.
func (a *app) signatureOf(p *plan.Plan, lock string) signatureJSON {
	out := signatureJSON{Signers: []signature.Signer{}}
	path := lock + signature.Suffix
	sig, err := ordinary.Read(path, signature.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	out.Present = true
	var keys []signature.PublicKey
	if own, err := signature.ReadKey(filepath.Join(a.cfg.Dirs.Config, "author.key")); err == nil {
		keys = append(keys, own.Public)
	}
	if err == nil {
		out.Signers, err = signature.Check(p, sig, filepath.Base(path), keys...)
	}
	if err != nil {
		out.Problem = fault.All(err)[0].Msg
	}
	out.Signers = notNil(out.Signers)
	return out
}
