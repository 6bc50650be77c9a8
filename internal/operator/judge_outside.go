package operator

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
	"github.com/joystream-ai/joy/internal/signature"
)

func (j *judge) connections() {
	for _, name := range sortedNames(j.q.Plan.Connections) {
		c := j.q.Plan.Connections[name]
		if e := j.p.connection(name, c.Argv, c.URL, c.Unconfined); e != nil {
			j.errs = append(j.errs, e.At(j.q.Name, lineOf(j.q.Lock, "connections", name), 0))
		}
	}
}

// Connection refuses one connection outside of a plan, as joy connect test starts it. argv or url, never both; unconfined is
// the author's reason, or "". The error is a *fault.Error of kind Policy.
func (ps Policies) Connection(name string, argv []string, url, unconfined string) error {
	var errs []error
	for _, p := range ps {
		if e := p.connection(name, argv, url, unconfined); e != nil {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

func (p *Policy) connection(name string, argv []string, url, unconfined string) *fault.Error {
	allowed := func(c Connection) bool {
		if url != "" {
			return c.URL != "" && matchURL(c.URL, url)
		}
		return c.matchesCommand(argv)
	}
	what := url
	if url == "" {
		what = strings.Join(argv, " ")
	}
	switch {
	case p.Connections != nil && !slices.ContainsFunc(p.Connections, allowed):
		return p.refusal("connections", fmt.Sprintf("the connection %s is %s, which the operator does not allow", name, what))
	case p.Unconfined != nil && !*p.Unconfined && unconfined != "":
		return p.refusal("unconfined", fmt.Sprintf("the connection %s is to run unconfined, which the operator does not allow", name))
	}
	return nil
}

func (j *judge) model() {
	m, s := j.q.Plan.Model, j.p.Spend
	if m == nil || m.Provider == "" {
		return
	}
	allowed := func(w Model) bool {
		return glob(w.Provider, m.Provider) && glob(w.Name, m.Name) &&
			(w.BaseURL == m.BaseURL || w.BaseURL != "" && m.BaseURL != "" && matchURL(w.BaseURL, m.BaseURL))
	}
	if j.p.Models != nil && !slices.ContainsFunc(j.p.Models, allowed) {
		at := m.BaseURL
		if at == "" {
			at = "its provider's own address"
		}
		j.refuse("models", []string{"model"}, "the model is %s/%s at %s, which the operator does not allow", m.Provider, m.Name, at)
	}
	if s.MaxCost > 0 && (m.MaxCost == 0 || m.MaxCost > s.MaxCost) {
		j.refuse("spend.max_cost", []string{"model", "max_cost"}, "model.max_cost is %g (0 is without bound), and the operator allows %g", m.MaxCost, s.MaxCost)
	}
	for _, b := range []struct {
		key       string
		got, most int
	}{{"max_tokens", m.MaxTokens, s.MaxTokens}, {"max_turns", m.MaxTurns, s.MaxTurns}} {
		if b.most > 0 && b.got > b.most {
			j.refuse("spend."+b.key, []string{"model", b.key}, "model.%s is %d, and the operator allows %d", b.key, b.got, b.most)
		}
	}
}

func (j *judge) approvals() {
	least := slices.Index(approvals, j.p.Approvals)
	if least <= 0 {
		return
	}
	if got := j.q.Plan.Policy.Approvals; slices.Index(approvals, got) < least {
		j.refuse("approvals", []string{"policy", "approvals"}, "policy.approvals is %s, and the operator wants %s at least", got, j.p.Approvals)
	}
	for i, s := range j.q.Plan.Steps {
		if s.Approve == "granted" {
			j.refuse("approvals", []string{"steps", strconv.Itoa(i), "approve"},
				"step %s grants its own approval, and the operator wants %s", s.ID, j.p.Approvals)
		}
	}
}

// signature holds that one of the operator's keys has signed the plan. That nobody has is a refusal; that the signature is of
// another plan is drift.
func (j *judge) signature() {
	if len(j.p.Signatures) == 0 {
		return
	}
	_, err := signature.Require(j.q.Plan, j.q.Sig, j.q.Name+signature.Suffix, j.p.Signatures...)
	switch {
	case err == nil:
	case fault.KindOf(err) == fault.Consent:
		e := j.p.refusal("signatures", "none of those whom the operator names has signed the plan")
		j.errs = append(j.errs, e.At(j.q.Name, lineOf(j.q.Lock, "plan_digest"), 0).WithHint("who may sign: joy plan sign"))
	default:
		j.errs = append(j.errs, err)
	}
}

func sortedNames(m map[string]plan.Connection) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}
