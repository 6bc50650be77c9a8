package cli

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

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
