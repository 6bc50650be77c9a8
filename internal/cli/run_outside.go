package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// outside is how a run reaches the services of its plan. Nothing of it was started.
type outside struct {
	connections []connection.Config
	approver    *approver
}

// openOutside holds that the user has allowed what the plan would start and contact, and that nobody is missing who has to
// approve, and then resolves the secrets of the connections: a run that lacks one does not begin.
func (a *app) openOutside(ctx context.Context, t *target, approve []string, known *secret.Set) (*outside, error) {
	out := &outside{approver: &approver{app: a, plan: t.plan, granted: approve}}
	sub, err := a.runSubject(t)
	if err != nil {
		return nil, err
	}
	if err := a.requireTrust(ctx, sub); err != nil {
		return nil, err
	}
	resolver := a.resolver(known)
	for _, name := range slices.Sorted(maps.Keys(t.plan.Connections)) {
		c, _ := sub.Connection(name)
		cfg, err := connectionConfig(ctx, sub, c, resolver, known)
		if err != nil {
			return nil, err
		}
		out.connections = append(out.connections, cfg)
	}
	return out, nil
}

// runSubject is what the run of a plan would start and contact. A joy.yaml that names more, for no step of the plan, was
// shown to the user as a whole: what was allowed then holds for the plan too.
func (a *app) runSubject(t *target) (trust.Subject, error) {
	sub := trust.OfPlan(t.dir, t.plan)
	if sub.Empty() || t.kept || a.trusted().Check(sub, a.env.LookupEnv) == nil {
		return sub, nil
	}
	whole, err := trust.OfDir(t.dir)
	if err != nil {
		return sub, err
	}
	narrowed := whole
	narrowed.Connections = slices.DeleteFunc(slices.Clone(whole.Connections), func(c trust.Connection) bool {
		_, used := t.plan.Connections[c.Name]
		return !used
	})
	if narrowed.Digest() == sub.Digest() {
		return whole, nil
	}
	return sub, nil
}
