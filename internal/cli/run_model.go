package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/joystream-ai/joy/internal/agent"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/anthropic"
	"github.com/joystream-ai/joy/internal/model/openai"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/runner"
	"github.com/joystream-ai/joy/internal/secret"
	"github.com/joystream-ai/joy/internal/trust"
)

// modelProvider is one vendor's wire, and how its key is sent.
type modelProvider struct {
	connect func(name, url string, wire model.Wire) model.Model
	list    string // path below base_url of the list of models
	header  string // of the key
	prefix  string
}

var modelProviders = map[string]modelProvider{
	"anthropic": {func(name, url string, w model.Wire) model.Model { return anthropic.New(name, url, w) }, "/v1/models", "X-Api-Key", ""},
	"openai":    {func(name, url string, w model.Wire) model.Model { return openai.New(name, url, w) }, "/models", "Authorization", "Bearer "},
}

func hasModelStep(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Kind == plan.Prompt })
}

// modelOf is the model that a run would ask: the plan's, or the one that the user names in its place with PROVIDER/NAME. A
// plan's address and key go with its own provider only; another has its own address, and the secret of its name.
func modelOf(p *plan.Plan, flag string) (*plan.Model, error) {
	if !hasModelStep(p) {
		return nil, nil //nolint:nilnil // no model is asked, which is no failure
	}
	m := plan.Model{MaxTurns: agent.DefaultMaxTurns, MaxTokens: agent.DefaultMaxTokens}
	if p.Model != nil {
		m = *p.Model
	}
	if flag != "" {
		provider, name, ok := strings.Cut(flag, "/")
		if !ok || provider == "" || name == "" {
			return nil, fault.New(fault.Input, "--model takes PROVIDER/NAME, not %q", flag).WithHint("joy run --model anthropic/claude-sonnet-5")
		}
		if provider != m.Provider {
			m.Provider, m.BaseURL, m.Key = provider, "", "secret:"+provider
		}
		m.Name = name
	}
	if m.Provider == "" || m.Name == "" {
		return nil, fault.New(fault.Input, "the plan has a step for a model and names none").WithHint("joy run --model anthropic/claude-sonnet-5, or model: in joy.yaml and joy build")
	}
	if _, ok := modelProviders[m.Provider]; !ok {
		return nil, fault.New(fault.Input, "joy knows no model provider %s", m.Provider).
			WithHint("a server that speaks OpenAI's API is provider: openai with its base_url")
	}
	return &m, nil
}

// openModel resolves the key, which goes to the provider's origin and nowhere else, and says before anything is spent whose
// key it is, where it goes and what bounds it.
func (a *app) openModel(ctx context.Context, m *plan.Model, r *secret.Resolver) (runner.Prompting, error) {
	if m == nil {
		return runner.Prompting{}, nil
	}
	provider := modelProviders[m.Provider]
	where := trust.Model{Provider: m.Provider, URL: cmp.Or(m.BaseURL, trust.ProviderURL(m.Provider))}
	origin, err := where.Origin()
	if err != nil {
		return runner.Prompting{}, err
	}
	wire := model.Wire{}
	key := "no key"
	if name, ok := strings.CutPrefix(m.Key, "secret:"); ok {
		value, err := r.Resolve(ctx, name, origin)
		if err != nil {
			return runner.Prompting{}, err
		}
		key = "your key " + m.Key
		wire.Authorize = authorize(origin, provider, value)
	}
	price := priceOf(m)
	a.say("model: %s/%s at %s, with %s; %s", m.Provider, m.Name, where.URL, key, modelLimits(m))
	if m.MaxCost > 0 && price == nil {
		a.warn("joy does not know what %s/%s costs, so max_cost cannot be held; max_tokens is", m.Provider, m.Name)
	}
	return runner.Prompting{
		Model: provider.connect(m.Name, m.BaseURL, wire), Provider: m.Provider, Name: m.Name,
		MaxTurns: m.MaxTurns, MaxTokens: int64(m.MaxTokens), MaxCost: m.MaxCost, Price: price,
	}, nil
}

// authorize adds the key to requests of its origin alone.
func authorize(origin secret.Origin, p modelProvider, key secret.Value) func(*http.Request) error {
	return func(r *http.Request) error {
		to, err := secret.OriginOfURL(r.URL.String())
		if err != nil {
			return err
		}
		if !origin.Equal(to) {
			return fault.New(fault.Policy, "the key of %s was to be sent to %s", origin, to)
		}
		r.Header.Set(p.header, p.prefix+string(key.Bytes()))
		return nil
	}
}

func modelLimits(m *plan.Model) string {
	limits := fmt.Sprintf("at most %d turns a step, %d tokens", m.MaxTurns, m.MaxTokens)
	if m.MaxCost > 0 {
		limits += fmt.Sprintf(", $%.2f", m.MaxCost)
	}
	return limits
}

// asking is the target as an operator judges it: with the model that would be asked.
func (t *target) asking(m *plan.Model) *target {
	if m == nil {
		return t
	}
	judged, p := *t, *t.plan
	p.Model, judged.plan = m, &p
	return &judged
}
