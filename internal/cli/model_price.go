package cli

import (
	"regexp"

	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/plan"
)

// prices are list prices in US dollars for a million tokens, by the model's name without its date, as they were in November
// 2026. They are estimates: what a provider charges is on its own pages
// (https://platform.claude.com/docs/en/about-claude/pricing, https://developers.openai.com/api/docs/pricing). Those of GPT-6 are
// for prompts up to 272,000 tokens; a model whose price changes before that is left out, for a limit would not hold.
var prices = map[string]model.Price{
	"anthropic/claude-fable-5-1":  {In: 10, Out: 50, CacheRead: .25, CacheWrite: 12.5},
	"anthropic/claude-fable-5":    {In: 10, Out: 50, CacheRead: 1, CacheWrite: 12.5},
	"anthropic/claude-opus-5-5":   {In: 4, Out: 20, CacheRead: .2, CacheWrite: 5},
	"anthropic/claude-opus-5":     opus,
	"anthropic/claude-opus-4-8":   opus,
	"anthropic/claude-opus-4-7":   opus,
	"anthropic/claude-opus-4-6":   opus,
	"anthropic/claude-opus-4-5":   opus,
	"anthropic/claude-sonnet-5-5": {In: 2, Out: 10, CacheRead: .1, CacheWrite: 2.5},
	"anthropic/claude-sonnet-5":   {In: 2, Out: 10, CacheRead: .2, CacheWrite: 2.5},
	"anthropic/claude-sonnet-4-6": sonnet4,
	"anthropic/claude-sonnet-4-5": sonnet4,
	"anthropic/claude-sonnet-4":   sonnet4,
	"anthropic/claude-haiku-4-5":  {In: 1, Out: 5, CacheRead: .1, CacheWrite: 1.25},
	"openai/gpt-6-astra":          {In: 10, Out: 50, CacheRead: 1, CacheWrite: 12.5},
	"openai/gpt-6.1-sol":          {In: 2, Out: 10, CacheRead: .1, CacheWrite: 2.5},
	"openai/gpt-6-sol":            {In: 2, Out: 10, CacheRead: .2, CacheWrite: 2.5},
	"openai/gpt-6-luna":           {In: .1, Out: .5, CacheRead: .01, CacheWrite: .125},
	"openai/gpt-5":                {In: 1.25, Out: 10, CacheRead: .125},
	"openai/gpt-5-mini":           {In: .25, Out: 2, CacheRead: .025},
	"openai/gpt-5-nano":           {In: .05, Out: .4, CacheRead: .005},
	"openai/gpt-4.1":              {In: 2, Out: 8, CacheRead: .5},
	"openai/gpt-4.1-mini":         {In: .4, Out: 1.6, CacheRead: .1},
	"openai/gpt-4o":               {In: 2.5, Out: 10, CacheRead: 1.25},
	"openai/gpt-4o-mini":          {In: .15, Out: .6, CacheRead: .075},
}

var (
	opus    = model.Price{In: 5, Out: 25, CacheRead: .5, CacheWrite: 6.25}
	sonnet4 = model.Price{In: 3, Out: 15, CacheRead: .3, CacheWrite: 3.75}
)

// dated is the end of a name that says which edition of a model is meant, and changes no price.
var dated = regexp.MustCompile(`-(latest|20\d{6}|20\d\d-\d\d-\d\d)$`)

// priceOf is what a model costs at its provider's own address; nil when that is not known. A name that only begins like another
// is another model, which may cost ten times as much.
func priceOf(m *plan.Model) *model.Price {
	if m.BaseURL != "" {
		return nil
	}
	p, ok := prices[m.Provider+"/"+dated.ReplaceAllString(m.Name, "")]
	if !ok {
		return nil
	}
	return &p
}
