package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/secret"
)

// A price is that of the very model, in whichever edition, at its provider's own address. Of anything else it is not known.
func TestPriceOf(t *testing.T) {
	for name, in := range map[string]float64{
		"anthropic/claude-sonnet-5":            2,
		"anthropic/claude-sonnet-4-5-20250929": 3,
		"anthropic/claude-opus-4-5-20251101":   5,
		"openai/gpt-5-2025-08-07":              1.25,
		"openai/gpt-5-mini":                    .25,
		"openai/gpt-4o-latest":                 2.5,
		"openai/gpt-5-pro":                     0, // twelve times gpt-5
		"openai/gpt-5.2":                       0,
		"anthropic/claude-haiku-5-5":           0, // of two prices
		"anthropic/claude-opus-4-9":            0,
		"anthropic/claude-sonnet-5-20":         0,
		"anthropic/gpt-5":                      0,
		"openai/llama3":                        0,
	} {
		provider, model, _ := strings.Cut(name, "/")
		m := plan.Model{Provider: provider, Name: model}
		p := priceOf(&m)
		require.Equal(t, in > 0, p != nil, name)
		if p != nil {
			require.InDelta(t, in, p.In, 0, name)
		}
		m.BaseURL = "https://elsewhere.example"
		require.Nil(t, priceOf(&m), name)
	}
	for name, p := range prices {
		require.Greater(t, p.Out, p.In, name)
		require.Less(t, p.CacheRead, p.In, name)
		require.Positive(t, p.CacheRead, name)
	}
}

// Before anything is spent, one line says whose key goes where and what bounds it. A limit that cannot be held is said to be
// none.
func TestTheLineBeforeSpending(t *testing.T) {
	for name, c := range map[string]struct {
		model  plan.Model
		says   string
		warns  bool
		priced bool
	}{
		"a known price": {
			plan.Model{Provider: "anthropic", Name: "claude-sonnet-5", Key: "secret:mine", MaxTurns: 20, MaxTokens: 1000, MaxCost: 1.5},
			"model: anthropic/claude-sonnet-5 at https://api.anthropic.com, with your key secret:mine; at most 20 turns a step, 1000 tokens, $1.50\n",
			false, true,
		},
		"no price": {
			plan.Model{Provider: "openai", Name: "llama3", BaseURL: "http://127.0.0.1:11434/v1", MaxTurns: 2, MaxTokens: 9, MaxCost: 1},
			"model: openai/llama3 at http://127.0.0.1:11434/v1, with no key; at most 2 turns a step, 9 tokens, $1.00\n",
			true, false,
		},
		"no limit": {
			plan.Model{Provider: "openai", Name: "llama3", BaseURL: "http://127.0.0.1:11434/v1", MaxTurns: 2, MaxTokens: 9},
			"at most 2 turns a step, 9 tokens\n", false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, errs := testApp(t)
			require.NoError(t, a.execute(t.Context(), []string{"version"})) // reads the settings
			vars := a.env.LookupEnv
			a.env.LookupEnv = func(key string) (string, bool) {
				if key == "JOY_SECRET_MINE" {
					return "canary-of-a-key", true
				}
				return vars(key)
			}
			p, err := a.openModel(t.Context(), &c.model, a.resolver(secret.NewScrubber()))
			require.NoError(t, err)
			require.Contains(t, errs.String(), c.says)
			require.NotContains(t, errs.String(), "canary")
			require.Equal(t, c.priced, p.Price != nil)
			require.InDelta(t, c.model.MaxCost, p.MaxCost, 0)
			if c.warns {
				require.Contains(t, errs.String(), "joy does not know what openai/llama3 costs, so max_cost cannot be held; max_tokens is")
			} else {
				require.NotContains(t, errs.String(), "warning")
			}
		})
	}
}
