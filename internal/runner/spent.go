package runner

import (
	"context"
	"math"
	"sync"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/model"
)

// maxReply bounds one reply of a model, in tokens.
const maxReply = 16_000

// spent is what the model steps of a run have used together, and what those that are waiting for a reply may still use.
type spent struct {
	mu      sync.Mutex
	used    model.Usage
	cost    float64
	held    allowance
	waiting int           // turns whose allowance is in held
	freed   chan struct{} // closed when one of them ends; nil: nobody waits for that
}

// allowance is what a turn may use: tokens of its reply, tokens in all, and dollars.
type allowance struct {
	reply, tokens int64
	cost          float64
}

// reserve sets aside what a turn may use, so that steps side by side keep the limits together. before is what the turn before it
// has used: all of that is asked again. Near a limit, a turn waits for the others to end, and not for a shorter reply than it
// would get alone. It is an error when the run has used what it may, or the turn would begin beyond that. Who reserves releases.
func (r *run) reserve(ctx context.Context, before model.Usage) (allowance, error) {
	for {
		a, freed, err := r.tryReserve(before)
		if freed == nil {
			return a, err
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return a, ctx.Err()
		}
	}
}

func (r *run) tryReserve(before model.Usage) (allowance, chan struct{}, error) {
	s := &r.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	limit, again := r.Model, before.Total()
	reply := min(limit.MaxTokens-s.used.Total()-s.held.tokens-again, maxReply)
	dollars, cost := math.Inf(1), 0.0
	if limit.Price != nil && limit.MaxCost > 0 {
		cost = float64(again) / 1e6 * min(limit.Price.In, limit.Price.CacheRead)
		dollars = limit.MaxCost - s.cost - s.held.cost - cost
		if most := math.Ceil(max(dollars, 0) / limit.Price.Out * 1e6); most < float64(reply) { // +Inf without a price
			reply = int64(most)
		}
	}
	if reply < maxReply && s.waiting > 0 {
		if s.freed == nil {
			s.freed = make(chan struct{})
		}
		return allowance{}, s.freed, nil
	}
	if reply <= 0 || dollars <= 0 {
		return allowance{}, nil, r.used(again, dollars <= 0)
	}
	a := allowance{reply: reply, tokens: again + reply}
	if limit.Price != nil {
		a.cost = cost + float64(reply)/1e6*limit.Price.Out
	}
	s.held.tokens, s.held.cost, s.waiting = s.held.tokens+a.tokens, s.held.cost+a.cost, s.waiting+1
	return a, nil, nil
}

// used says which limit is reached. again is how many tokens the next turn takes at least.
func (r *run) used(again int64, dollars bool) error {
	s, next := &r.spent, ""
	if dollars {
		if s.cost < r.Model.MaxCost {
			next = ", and the next turn would go beyond that"
		}
		return fault.New(fault.Agent, "the run has cost about $%.2f of $%.2f%s", s.cost, r.Model.MaxCost, next).WithHint("raise model.max_cost in joy.yaml and build again")
	}
	if n := s.used.Total(); n < r.Model.MaxTokens {
		return fault.New(fault.Agent, "the run has used %d tokens of %d, and the next turn would take %d more at least", n, r.Model.MaxTokens, again).
			WithHint("raise model.max_tokens in joy.yaml and build again")
	}
	return fault.New(fault.Agent, "the run has used %d tokens of %d", s.used.Total(), r.Model.MaxTokens).WithHint("raise model.max_tokens in joy.yaml and build again")
}

// release ends what reserve began. What was used is in by then.
func (r *run) release(a allowance) {
	s := &r.spent
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held.tokens, s.held.cost, s.waiting = s.held.tokens-a.tokens, s.held.cost-a.cost, s.waiting-1
	if s.waiting == 0 {
		s.held = allowance{} // without what sums of fractions leave
	}
	if s.freed != nil {
		close(s.freed)
		s.freed = nil
	}
}

// repeat says whether a turn whose answer broke off may be asked again: within what is set aside, with what it has used so far,
// and with what its question takes once more.
func (r *run) repeat(all, last model.Usage) error {
	s, limit := &r.spent, r.Model
	s.mu.Lock()
	defer s.mu.Unlock()
	last.Out = 0
	u := all.Add(last)
	over := limit.Price != nil && limit.MaxCost > 0 && s.cost+s.held.cost+limit.Price.Cost(u) > limit.MaxCost
	if over || s.used.Total()+s.held.tokens+u.Total() > limit.MaxTokens {
		return r.used(u.Total(), over)
	}
	return nil
}

func (r *run) spend(u model.Usage) {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	r.spent.used = r.spent.used.Add(u)
	if r.Model.Price != nil {
		r.spent.cost += r.Model.Price.Cost(u)
	}
}
