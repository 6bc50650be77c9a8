package cli

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/joystream-ai/joy/internal/doctor"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/openai"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// modelPatience bounds the wait for a list of models.
const modelPatience = 20 * time.Second

// modelURLs are the addresses below which a provider has its list.
var modelURLs = map[string]string{"anthropic": anthropic.URL, "openai": openai.URL}

// checkModel says for joy doctor whether the model of the agent in this directory answers. It is asked for nothing where there
// is no agent with a step for one, and where a run would not get as far: nobody is contacted on behalf of a project that was not
// trusted, that the operator does not allow, or whose lock is not of what was trusted.
func (a *app) checkModel(ctx context.Context) []doctor.Check {
	t, err := a.loadTarget("")
	if err != nil || !hasModelStep(t.plan) || t.plan.Model == nil || t.plan.Model.Provider == "" {
		return nil
	}
	sub, err := a.subject("")
	if err == nil {
		err = t.checkDrift(nil)
	}
	if err == nil {
		err = a.trusted().Check(sub, a.env.LookupEnv)
	}
	if err == nil {
		_, err = a.judge(t, a.lockFile(""), a.cfg.Sandbox)
	}
	if err != nil {
		first := fault.All(err)[0]
		name := t.plan.Model.Provider + "/" + t.plan.Model.Name
		return []doctor.Check{{ID: "model", Status: doctor.Warn, Detail: name + " was not asked whether it answers: " + first.Error(), Fix: first.Hint}}
	}
	var r readiness
	known := secret.NewScrubber()
	a.readyModel(ctx, t.plan.Model, a.resolver(known), known, &r)
	return r.checks
}

// readyModel asks the model's provider for its list of models, with the key: no token is spent. The project is trusted.
func (a *app) readyModel(ctx context.Context, m *plan.Model, keys *secret.Resolver, known *secret.Set, r *readiness) {
	provider, ok := modelProviders[m.Provider]
	if !ok {
		return // the plan names none: --model does
	}
	where := trust.Model{Provider: m.Provider, URL: cmp.Or(m.BaseURL, trust.ProviderURL(m.Provider))}
	origin, err := where.Origin()
	wire := model.Wire{}
	if name, has := strings.CutPrefix(m.Key, "secret:"); has && err == nil {
		var value secret.Value
		if value, err = keys.Resolve(ctx, name, origin); err == nil {
			wire.Authorize = authorize(origin, provider, value)
		}
	}
	if err != nil {
		r.check("model", err, "")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, modelPatience)
	defer cancel()
	base := strings.TrimRight(cmp.Or(m.BaseURL, modelURLs[m.Provider]), "/")
	found, whole, err := wire.Listed(ctx, m.Provider, m.Name, base+provider.list, http.Header{"Anthropic-Version": {"2023-06-01"}})
	switch {
	case errors.Is(err, model.ErrNoList):
		r.warn("model", "", "%s answers, but does not list its models: whether it has %s is seen in a run", base, m.Name)
	case err != nil:
		r.check("model", scrubbed(err, known), "")
	case found:
		r.ok("model", "%s answers, and has %s; nothing was spent", base, m.Name)
	case whole:
		r.warn("model", "name another in joy.yaml, if it is no alias", "%s answers, and does not list %s", base, m.Name)
	default:
		r.ok("model", "%s answers; %s is not on the first page of its list", base, m.Name)
	}
}
