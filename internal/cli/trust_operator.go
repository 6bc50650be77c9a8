package cli

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/operator"
	"github.com/joystream-ai/joy/internal/ordinary"
	"github.com/joystream-ai/joy/internal/signature"
)

// policies are the operator's policy and the user's own, which can only tighten it.
func (a *app) policies() (operator.Policies, error) {
	return operator.Load(a.machinePolicy(), filepath.Join(a.cfg.Dirs.Config, operator.UserFile))
}

// machinePolicy is where the operator's policy is.
func (a *app) machinePolicy() string {
	if a.env.OperatorPolicy != "" {
		return a.env.OperatorPolicy
	}
	return operator.DefaultPath()
}

// judge holds a plan against the policies in force: nothing of it starts when they refuse. provider is the one whose VM will
// be used, or "". lockFile is where the lock is, for the signature beside it; "" for the plan of a past run, which has none. The
// digest names what was in force, for run.started; it is "" when nobody bounds anything.
func (a *app) judge(t *target, lockFile, provider string) (digest string, err error) {
	ps, err := a.policies()
	if err != nil || len(ps) == 0 {
		return "", err
	}
	q := operator.Request{Plan: t.plan, Lock: t.lock, Name: t.name, Provider: provider}
	if lockFile != "" {
		q.Sig, err = ordinary.Read(lockFile+signature.Suffix, signature.MaxBytes)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fault.Wrap(fault.Input, err, "read the signature").At(t.name+signature.Suffix, 0, 0)
		}
	}
	return ps.Digest(), ps.Judge(q)
}
