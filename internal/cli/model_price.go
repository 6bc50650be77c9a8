package cli

import (
	"strings"

	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/plan"
)

// prices are list prices in US dollars for a million tokens, by the beginning of a model's name; the longest wins. They are
// estimates: what a provider charges is on its own pages
// (https://platform.claude.com/docs/en/about-claude/pricing, https://openai.com/api/pricing).
var prices = map[string]model.Price{
	"anthropic/claude-haiku-4":  {In: 1, Out: 5, CacheRead: .1, CacheWrite: 1.25},
	"anthropic/claude-sonnet-4": {In: 3, Out: 15, CacheRead: .3, CacheWrite: 3.75},
	"anthropic/claude-opus-4-5": {In: 5, Out: 25, CacheRead: .5, CacheWrite: 6.25},
	"anthropic/claude-opus-4":   {In: 15, Out: 75, CacheRead: 1.5, CacheWrite: 18.75},
	"openai/gpt-5":              {In: 1.25, Out: 10, CacheRead: .125},
	"openai/gpt-5-mini":         {In: .25, Out: 2, CacheRead: .025},
	"openai/gpt-5-nano":         {In: .05, Out: .4, CacheRead: .005},
	"openai/gpt-4.1":            {In: 2, Out: 8, CacheRead: .5},
	"openai/gpt-4.1-mini":       {In: .4, Out: 1.6, CacheRead: .1},
	"openai/gpt-4o":             {In: 2.5, Out: 10, CacheRead: 1.25},
	"openai/gpt-4o-mini":        {In: .15, Out: .6, CacheRead: .075},
}

// priceOf is what a model costs at its provider's own address; nil when that is not known.
func priceOf(m *plan.Model) *model.Price {
	if m.BaseURL != "" {
		return nil
	}
	name, best := m.Provider+"/"+m.Name, ""
	for prefix := range prices {
		if strings.HasPrefix(name, prefix) && len(prefix) > len(best) {
			best = prefix
		}
	}
	if best == "" {
		return nil
	}
	p := prices[best]
	return &p
}
