package runner

import (
	"bytes"
	"context"
	"math"
	"strings"
	"sync"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/secret"
)

// maxReply bounds one reply of a model, in tokens.
const maxReply = 16_000

// spent is what the model steps of a run have used together.
type spent struct {
	mu   sync.Mutex
	used model.Usage
	cost float64
}

// left is how long a reply may be; an error when the run has used what it may.
func (r *run) left() (int, error) {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	limit := r.Model
	tokens := limit.MaxTokens - r.spent.used.Total()
	if tokens <= 0 {
		return 0, fault.New(fault.Agent, "the run has used %d tokens of %d", r.spent.used.Total(), limit.MaxTokens).WithHint("raise model.max_tokens in joy.yaml and build again")
	}
	if limit.Price != nil && limit.MaxCost > 0 {
		dollars := limit.MaxCost - r.spent.cost
		if dollars <= 0 {
			return 0, fault.New(fault.Agent, "the run has cost about $%.2f of $%.2f", r.spent.cost, limit.MaxCost).WithHint("raise model.max_cost in joy.yaml and build again")
		}
		if limit.Price.Out > 0 {
			tokens = min(tokens, int64(math.Ceil(dollars/limit.Price.Out*1e6)))
		}
	}
	return int(min(tokens, maxReply)), nil
}

func (r *run) spend(u model.Usage) {
	r.spent.mu.Lock()
	defer r.spent.mu.Unlock()
	r.spent.used = r.spent.used.Add(u)
	if r.Model.Price != nil {
		r.spent.cost += r.Model.Price.Cost(u)
	}
}

// say is one turn: what goes out is durable on record before it does, and what came back is kept, scrubbed.
func (t *talk) say(ctx context.Context, conv model.Conversation, n int, turn model.Turn) (model.Reply, error) {
	r := t.run
	var err error
	if turn.MaxTokens, err = r.left(); err != nil {
		return model.Reply{}, err
	}
	var asked int64
	turn.Sending = func(body []byte) error {
		if err := r.refuseCredential(t.step.ID, body); err != nil {
			return err
		}
		if r.Model.Expect != nil {
			clean, _ := r.Secrets.Redact(body)
			if err := r.Model.Expect(t.step.ID, n, clean); err != nil {
				return err
			}
		}
		kept, err := r.keepBytes(body)
		if err != nil {
			return err
		}
		asked, err = r.Ledger.Effect(ledger.ModelRequested, t.step.ID, ledger.Data{
			"turn": n, "provider": r.Model.Provider, "model": r.Model.Name, "request": kept, "max_tokens": turn.MaxTokens,
		})
		return err
	}
	begun := r.Now()
	reply, x, err := conv.Say(ctx, turn)
	if asked == 0 {
		return reply, err // nothing left this machine
	}
	r.spend(reply.Usage)
	reply.Text = r.words(reply.Text)
	kept, kerr := r.keepBytes(x.Response)
	if kerr != nil {
		return reply, kerr
	}
	d := ledger.Data{"of": asked, "turn": n, "ms": r.took(begun), "attempts": x.Attempts, "status": x.Status, "response": kept}
	if err != nil {
		d["error"] = r.text(err.Error())
	} else {
		t.describe(d, reply)
	}
	if _, rerr := r.Ledger.Append(ledger.ModelReplied, t.step.ID, d); rerr != nil {
		return reply, rerr
	}
	return reply, err
}

// refuseCredential keeps a connection's credential from a model provider: nothing that a model is told has one, so it has come
// out of where none may be.
func (r *run) refuseCredential(step string, body []byte) error {
	_, hits := r.Secrets.Redact(body)
	for _, h := range hits {
		if h.Form != secret.Rule && r.Broker.Credential(h.Name) {
			return fault.Wrap(fault.Policy, broker.ErrCredential, "the secret %s is in what step %s was about to tell the model; it was not sent", h.Name, step)
		}
	}
	return nil
}

// describe is what the record says of a reply beside its bytes.
func (t *talk) describe(d ledger.Data, reply model.Reply) {
	u := reply.Usage
	d["model"], d["stop"], d["calls"] = t.run.text(reply.Model), string(reply.Stop), len(reply.Calls)
	d["tokens"] = ledger.Data{"in": u.In, "out": u.Out, "cache_read": u.CacheRead, "cache_write": u.CacheWrite}
	if len(reply.Calls) > 0 {
		d["asked"] = t.asked(reply.Calls)
	}
	if p := t.run.Model.Price; p != nil {
		d["cost_microdollars"] = int64(math.Round(p.Cost(u) * 1e6))
	}
}

// maxAsked bounds the names of one reply's calls that are told: they are the model's words.
const maxAsked = 16

// asked names what a reply asks for, in its order.
func (t *talk) asked(calls []model.Call) []any {
	var names []any
	for _, c := range calls[:min(len(calls), maxAsked)] {
		names = append(names, t.run.text(quotedName(c.Name)))
	}
	return names
}

// quotedName is a tool's name, or its beginning, when it is longer than any can be.
func quotedName(name string) string { return strings.ToValidUTF8(name[:min(len(name), 64)], "") }

// unfenced is text without the code fence that models like to put around JSON.
func unfenced(text []byte) []byte {
	text = bytes.TrimSpace(text)
	inner, ok := bytes.CutSuffix(text, []byte("```"))
	if !ok || !bytes.HasPrefix(inner, []byte("```")) {
		return text
	}
	_, inner, _ = bytes.Cut(inner, []byte("\n"))
	return bytes.TrimSpace(inner)
}
