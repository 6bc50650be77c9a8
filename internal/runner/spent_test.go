package runner

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/model/modeltest"
)

func bounding(tokens int64, cost float64) *run {
	return &run{Config: Config{Model: Prompting{MaxTokens: tokens, MaxCost: cost, Price: &model.Price{In: 1, Out: 10, CacheRead: .1}}}}
}

// Steps side by side keep the limits together, whatever each of them uses of what it may.
func TestLimitsHoldForStepsSideBySide(t *testing.T) {
	for name, r := range map[string]*run{
		"tokens":  bounding(100_000, 0),
		"dollars": bounding(math.MaxInt64, 1),
	} {
		t.Run(name, func(t *testing.T) {
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() {
					before := model.Usage{}
					for {
						a, err := r.reserve(t.Context(), before)
						if err != nil {
							require.Equal(t, fault.Agent, fault.KindOf(err))
							return
						}
						before = model.Usage{CacheRead: before.Total(), Out: a.reply} // all that it may
						r.spend(before)
						r.release(a)
					}
				})
			}
			all.Wait()
			require.LessOrEqual(t, r.spent.used.Total(), r.Model.MaxTokens)
			require.Positive(t, r.spent.used.Total())
			if name == "dollars" {
				require.LessOrEqual(t, r.spent.cost, 1.0001, "a token more than the fraction that is left")
			}
			require.Zero(t, r.spent.held)
			require.Zero(t, r.spent.waiting)
		})
	}
}

func TestReserve(t *testing.T) {
	r := bounding(20_000, 0)
	first, err := r.reserve(t.Context(), model.Usage{})
	require.NoError(t, err)
	require.EqualValues(t, maxReply, first.reply)

	// What is left is too little for a whole reply: the second waits, and is not given a shorter one.
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the step ended")
	cancel(why)
	_, err = r.reserve(ctx, model.Usage{})
	require.ErrorIs(t, err, context.Canceled)
	got := make(chan allowance)
	go func() {
		a, err := r.reserve(t.Context(), model.Usage{})
		if err != nil {
			a = allowance{}
		}
		got <- a
	}()
	r.spend(model.Usage{Out: 100})
	r.release(first)
	second := <-got
	require.EqualValues(t, maxReply, second.reply)
	r.release(second)

	// A turn begins with all that was said before it.
	_, err = r.reserve(t.Context(), model.Usage{In: 19_900})
	require.ErrorContains(t, err, "has used 100 tokens of 20000, and the next turn would take 19900 more at least")
	last, err := r.reserve(t.Context(), model.Usage{In: 19_000})
	require.NoError(t, err)
	require.EqualValues(t, 900, last.reply)
	require.NoError(t, r.repeat(model.Usage{}, model.Usage{}))
	require.ErrorContains(t, r.repeat(model.Usage{Out: 1}, model.Usage{}), "has used 100 tokens")
	r.release(last)
	r.spend(model.Usage{In: 30_000})
	_, err = r.reserve(t.Context(), model.Usage{})
	require.ErrorContains(t, err, "has used 30100 tokens of 20000")
}

// A bound that no number of tokens can reach is none.
func TestReserveWithoutBound(t *testing.T) {
	for name, r := range map[string]*run{"a fortune": bounding(math.MaxInt64, 1e300), "no price": {Config: Config{Model: Prompting{MaxTokens: 1 << 40, MaxCost: 1}}}} {
		a, err := r.reserve(t.Context(), model.Usage{})
		require.NoError(t, err, name)
		require.EqualValues(t, maxReply, a.reply, name)
		require.NoError(t, r.repeat(model.Usage{In: 1000}, model.Usage{In: 500}), name)
	}
}

// What a provider says of tokens is on record as far as it can be true, and of an answer that broke off as well.
func TestWhatWasSpentIsOnRecord(t *testing.T) {
	r, _ := talking(t, false, modeltest.Script(modeltest.Reply{Text: "Done.", In: 1 << 60}))
	require.Equal(t, Succeeded, r.finished(t).Status)
	tokens, _ := r.one(t, "model.replied").Data["tokens"].(map[string]any)
	require.EqualValues(t, 1<<40, tokens["in"])

	r, _ = talking(t, false, modeltest.Script(modeltest.Reply{Text: "half", In: 1000, Cut: true}))
	require.Equal(t, Failed, r.finished(t).Status)
	e := r.one(t, "model.replied")
	tokens, _ = e.Data["tokens"].(map[string]any)
	require.EqualValues(t, 3000, tokens["in"])
	require.NotEmpty(t, e.String("error"))

	r, s := talking(t, false, modeltest.Script(modeltest.Reply{Text: "half", In: 60_000, Cut: true}))
	r.Model.MaxTokens = 100_000
	require.Equal(t, Failed, r.finished(t).Status)
	require.Len(t, s.Requests(), 1, "a second answer would have gone beyond the limit")
}

// What a turn costs is on record where the price is known, and max_cost ends a step whose model would go on.
func TestMaxCostEndsAStep(t *testing.T) {
	look := modeltest.Reply{Calls: []modeltest.Call{{Name: "no_such_tool", Input: "{}"}}, In: 10_000, Out: 1000}
	price := model.Price{In: 3, Out: 15, CacheRead: .3, CacheWrite: 3.75}
	const turn = 30_000 + 15_000 + 2 + 11 // microdollars, with 7 tokens that the server reads and 3 that it writes of its cache
	for name, c := range map[string]struct {
		limit float64
		price *model.Price
		turns int
		says  string
	}{
		"reached":       {.05, &price, 2, "the run has cost about $0.09 of $0.05"},
		"the next":      {.093, &price, 2, "the run has cost about $0.09 of $0.09, and the next turn would go beyond that"},
		"not reached":   {1, &price, 5, "no answer in 5 turns"},
		"of no price":   {.05, nil, 5, "no answer in 5 turns"},
		"without bound": {0, &price, 5, "no answer in 5 turns"},
	} {
		t.Run(name, func(t *testing.T) {
			r, s := talking(t, false, modeltest.Script(look))
			r.Model.MaxCost, r.Model.Price = c.limit, c.price
			out := r.finished(t)
			require.Equal(t, fault.Agent, out.Failure.Kind)
			require.ErrorContains(t, out.Failure.Err, c.says)
			require.Len(t, s.Requests(), c.turns)
			for _, e := range r.all("model.replied") {
				cost, known := e.Data["cost_microdollars"]
				require.Equal(t, c.price != nil, known)
				if known {
					require.EqualValues(t, turn, cost)
				}
			}
		})
	}
}
