package broker

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/joystream-ai/joy/internal/connection"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// maxArguments bounds the arguments of one call, in bytes: the largest artifact that a plan may ask for, in base64.
const maxArguments = 48 << 20

// ErrCredential is in the tree of a denial after which the run must end: what only the host may know has come back
// from somewhere else.
var ErrCredential = errors.New("a connection's credential is outside the broker")

// Call is one call of an action in a step's name.
type Call struct {
	Step      string
	Grant     plan.Grant      // the plan's word for it; its fixed arguments are added
	Approve   string          // the step's own word on approval: "", ask or granted
	Arguments json.RawMessage // an object; nil: none
}

// Call decides on a call, records it and makes it. An error of kind Policy is a denial, and Consent wants an approval;
// Input is arguments that the tool does not take, Drift a tool that is not the pinned one, Connection the server's
// failure, with connection.ErrUnknown in its tree when nobody knows whether the call took effect. A tool that reports a
// failure of its own is a Result with IsError.
func (b *Broker) Call(ctx context.Context, c Call) (connection.Result, error) {
	t, err := b.decide(&c)
	var approval int64
	if err == nil {
		approval, err = b.approve(ctx, t, c)
	}
	if err != nil {
		return connection.Result{}, errors.Join(err, b.recordDenial(c, err))
	}
	seq, err := b.recordCall(t, c, approval)
	if err != nil {
		return connection.Result{}, err
	}
	begun := b.cfg.Now()
	res, err := b.reach(ctx, t, c)
	if errors.Is(err, connection.ErrUnknown) {
		return res, err // a start without an end is how the record says so
	}
	d := ledger.Data{"of": seq, "action": t.action, "ms": b.cfg.Now().Sub(begun).Milliseconds()}
	if err != nil {
		d["error"] = b.scribe.Text(err.Error())
	} else if err = b.admit(c.Step, res); err != nil {
		d["error"] = b.scribe.Text(err.Error())
	} else {
		var kept ledger.Data
		if res.Raw, err = b.clean(c.Step, t.action, res.Raw); err == nil {
			kept, err = b.scribe.JSONSoon(res.Raw)
		}
		d["failed"], d["result"] = res.IsError, kept
	}
	_, rerr := b.cfg.Ledger.Append(ledger.ToolReturned, c.Step, d)
	if err = errors.Join(err, rerr); err != nil {
		return connection.Result{}, err
	}
	return res, nil
}

// reach makes the call, or has it answered by whoever stands in for the connections.
func (b *Broker) reach(ctx context.Context, t tool, c Call) (connection.Result, error) {
	if b.cfg.Answers == nil {
		return b.connections[t.connection].Call(ctx, t.name, c.Arguments, t.idempotent || t.readOnly)
	}
	args, _ := b.cfg.Secrets.RedactJSON(c.Arguments)
	return b.cfg.Answers(ctx, c.Step, t.action, args)
}

// admit keeps a server's answer from carrying a credential to a step.
func (b *Broker) admit(step string, res connection.Result) error {
	if b.holdsCredential(res.Raw) {
		err := fault.Wrap(fault.Policy, ErrCredential, "the answer is withheld")
		b.shut(step, err)
		return err
	}
	return nil
}

// decide judges a call and completes its arguments.
func (b *Broker) decide(c *Call) (tool, error) {
	t, ok := b.cfg.Pins.find(c.Grant.Action)
	if !ok || b.connections[t.connection] == nil && b.cfg.Answers == nil {
		return tool{action: c.Grant.Action}, fault.New(fault.Policy, "the plan has no such tool")
	}
	if len(c.Arguments) > maxArguments {
		return t, fault.New(fault.Input, "its arguments are %d bytes, of at most %d", len(c.Arguments), maxArguments)
	}
	if b.holdsCredential(c.Arguments) {
		err := fault.Wrap(fault.Policy, ErrCredential, "its arguments are withheld")
		b.shut(c.Step, err)
		return t, err
	}
	args, err := fix(c.Arguments, c.Grant.With)
	if err != nil {
		return t, err
	}
	c.Arguments = args
	if err := b.check(t, args); err != nil {
		return t, fault.Wrap(fault.Input, err, "its arguments do not match its inputSchema")
	}
	err = b.account(c.Step).spend(t.action, c.Grant.MaxCalls)
	if errors.Is(err, errCalls) {
		b.shut(c.Step, err)
	} else if err != nil {
		err = fault.Wrap(fault.Policy, err, "no more calls")
	}
	return t, err
}

func (b *Broker) holdsCredential(body []byte) bool {
	_, hits := b.credentials.Redact(body)
	return len(hits) > 0
}

// recordCall writes the intent, durably. approval is the seq of a person's word for it, or 0.
func (b *Broker) recordCall(t tool, c Call, approval int64) (int64, error) {
	given, err := b.scribe.JSONSoon(c.Arguments)
	if err != nil {
		return 0, err
	}
	d := ledger.Data{"action": t.action, "tool": t.pin.Digest, "arguments": given}
	if approval > 0 {
		d["approval"] = approval
	}
	return b.cfg.Ledger.Effect(ledger.ToolRequested, c.Step, d)
}

// recordDenial puts a call that was not made on record and counts it. Past the limit the door closes.
func (b *Broker) recordDenial(c Call, why error) error {
	kind := fault.KindOf(why)
	a := b.account(c.Step)
	if kind == fault.Policy || kind == fault.Consent {
		denied := fault.Wrap(kind, why, "%s was denied", b.shown(c.Grant.Action))
		var e *fault.Error
		if errors.As(why, &e) {
			denied.Code, denied.Hint = e.Code, e.Hint
		}
		a.deny(denied)
	}
	n := a.denial()
	if n > maxDenials {
		return nil
	}
	d := ledger.Data{"action": b.shown(c.Grant.Action), "reason": b.scribe.Text(why.Error()), "kind": string(kind)}
	_, err := b.cfg.Ledger.Append(ledger.ToolDenied, c.Step, d)
	if n == maxDenials {
		b.shut(c.Step, errDenials)
	}
	return err
}
