package runner

import (
	"bytes"
	"context"
	"math"
	"strings"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/model"
	"github.com/joystream-ai/joy/internal/secret"
)

// say is one turn: what goes out is durable on record before it does, and what came back is kept, scrubbed as the text that it is
// and not as the pieces that it came in.
func (t *talk) say(ctx context.Context, conv model.Conversation, n int, turn model.Turn) (model.Reply, error) {
	r := t.run
	held, err := r.reserve(ctx, t.before)
	if err != nil {
		return model.Reply{}, err
	}
	defer r.release(held)
	turn.MaxTokens, turn.Repeat = int(held.reply), r.repeat
	var asked int64
	turn.Sending = func(body, kept []byte) (err error) {
		asked, err = t.ask(n, turn.MaxTokens, body, kept)
		return err
	}
	var found []secret.Hit
	turn.Keep = func(answer []byte) (clean []byte) {
		clean, found = r.Secrets.RedactEvents(answer)
		return clean
	}
	begun := r.Now()
	reply, x, err := conv.Say(ctx, turn)
	if asked == 0 {
		return reply, err // nothing left this machine
	}
	r.spend(reply.Usage)
	t.before = reply.Usage
	reply.Text = r.words(reply.Text)
	kept, kerr := r.scribe.CleanSoon(x.Kept, len(found) > 0)
	if kerr != nil {
		return reply, kerr
	}
	d := ledger.Data{"of": asked, "turn": n, "ms": r.took(begun), "attempts": x.Attempts, "status": x.Status, "response": kept}
	t.describe(d, reply)
	if err != nil {
		d["error"] = r.scribe.Text(err.Error())
	} else {
		d["model"], d["stop"], d["calls"] = r.scribe.Text(reply.Model), string(reply.Stop), len(reply.Calls)
	}
	if _, rerr := r.Ledger.Append(ledger.ModelReplied, t.step.ID, d); rerr != nil {
		return reply, rerr
	}
	if err == nil {
		err = r.refuseCredential(found, "in what the model answered step "+t.step.ID)
	}
	return reply, err
}

// ask puts a request on record before it leaves. kept is what may be kept of body.
func (t *talk) ask(n, limit int, body, kept []byte) (seq int64, err error) {
	r := t.run
	clean, hits := t.asked.Redact(kept)
	if !bytes.Equal(kept, body) {
		_, sent := r.Secrets.Redact(body)
		hits = append(hits, sent...)
	}
	if err := r.refuseCredential(hits, "in what step "+t.step.ID+" was about to tell the model; it was not sent"); err != nil {
		return 0, err
	}
	if r.Model.Expect != nil {
		if err := r.Model.Expect(t.step.ID, n, clean); err != nil {
			return 0, err
		}
	}
	d, err := r.scribe.CleanSoon(clean, len(hits) > 0)
	if err != nil {
		return 0, err
	}
	return r.Ledger.Effect(ledger.ModelRequested, t.step.ID, ledger.Data{
		"turn": n, "provider": r.Model.Provider, "model": r.Model.Name, "request": d, "max_tokens": limit,
	})
}

// refuseCredential keeps a connection's credential from a model provider, and from what a model does: nothing that a model is told has
// one, so it has come out of where none may be.
func (r *run) refuseCredential(hits []secret.Hit, where string) error {
	for _, h := range hits {
		if h.Form != secret.Rule && r.Broker.Credential(h.Name) {
			return fault.Wrap(fault.Policy, broker.ErrCredential, "the secret %s is %s", h.Name, where)
		}
	}
	return nil
}

// describe is what the record says of a reply beside its bytes, also of one that broke off: it was paid for.
func (t *talk) describe(d ledger.Data, reply model.Reply) {
	u := reply.Usage
	if u.Total() == 0 {
		return
	}
	d["tokens"] = ledger.Data{"in": u.In, "out": u.Out, "cache_read": u.CacheRead, "cache_write": u.CacheWrite}
	if reply.Estimated {
		d["estimated"] = true
	}
	if len(reply.Calls) > 0 {
		d["asked"] = t.names(reply.Calls)
	}
	if p := t.run.Model.Price; p != nil {
		d["cost_microdollars"] = int64(math.Round(p.Cost(u) * 1e6))
	}
}

// maxAsked bounds the names of one reply's calls that are told: they are the model's words.
const maxAsked = 16

// names are what a reply asks for, in its order.
func (t *talk) names(calls []model.Call) []any {
	var names []any
	for _, c := range calls[:min(len(calls), maxAsked)] {
		names = append(names, t.run.scribe.Text(quotedName(c.Name)))
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
