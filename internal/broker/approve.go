package broker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/joystream-ai/joy/internal/digest"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/plan"
)

// ApprovalLimit is how long an approval may take, and how long it is good for.
const ApprovalLimit = 5 * time.Minute

// Approval asks a person about one call. It is what an approver shows.
type Approval struct {
	Step        string
	Action      string
	Destination string          // the connection's command or URL
	Arguments   json.RawMessage // resolved, with what the plan fixes, and without a known secret in them
	Digest      string          // of action, destination and these arguments: what the approval is for
}

// Approver decides about a call that needs approval. It returns who approved and how, or an error: of kind Policy when
// a person said no, of kind Consent when nobody could be asked. Its words go on record. It may be called by several
// steps at once.
type Approver func(ctx context.Context, a Approval) (by string, err error)

var errLate = fmt.Errorf("nobody approved within %s", ApprovalLimit)

// approve gets a person's word for a call when it needs one, and returns the seq of its entry. The word is for these
// arguments at this destination; it is used once, at once, by the caller.
func (b *Broker) approve(ctx context.Context, t tool, c Call) (int64, error) {
	if !plan.NeedsApproval(b.cfg.Approvals, c.Approve, t.readOnly) {
		return 0, nil
	}
	a := Approval{Step: c.Step, Action: t.action, Destination: b.cfg.Pins.Destination(t.action)}
	a.Arguments, _ = b.cfg.Secrets.RedactJSON(c.Arguments)
	bound, err := digest.Canonical(map[string]any{"action": a.Action, "destination": a.Destination, "arguments": digest.Bytes(a.Arguments)})
	if err != nil {
		return 0, err
	}
	a.Digest = digest.Bytes(bound)
	given, err := b.scribe.JSONSoon(c.Arguments)
	if err != nil {
		return 0, err
	}
	seq, err := b.cfg.Ledger.Effect(ledger.ApprovalRequested, c.Step, ledger.Data{
		"action": a.Action, "destination": b.scribe.Text(a.Destination), "arguments": given, "digest": a.Digest,
	})
	if err != nil {
		return 0, err
	}
	by, err := b.ask(ctx, a)
	if err != nil {
		_, rerr := b.cfg.Ledger.Append(ledger.ApprovalDenied, c.Step, ledger.Data{"of": seq, "action": a.Action, "reason": b.scribe.Text(err.Error())})
		return 0, errors.Join(err, rerr)
	}
	return b.cfg.Ledger.Effect(ledger.ApprovalGranted, c.Step, ledger.Data{"of": seq, "action": a.Action, "by": b.scribe.Text(by), "digest": a.Digest})
}

// CodeApproval marks the error of a call that nobody approved.
const CodeApproval = "JOY-APPROVAL"

func needed(action string, why error) error {
	e := fault.New(fault.Consent, "it needs approval, and there is nobody to ask")
	if e.Code = CodeApproval; why != nil {
		e.Msg, e.Err = "it needs approval", why
	}
	return e.WithHint("joy run --approve %s, or approve: granted on the step in joy.yaml", action)
}

// ask waits for a person no longer than an approval is good for.
func (b *Broker) ask(ctx context.Context, a Approval) (string, error) {
	if b.cfg.Approver == nil {
		return "", needed(a.Action, nil)
	}
	begun := b.cfg.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, ApprovalLimit, errLate)
	defer cancel()
	by, err := b.cfg.Approver(ctx, a)
	if errors.Is(context.Cause(ctx), errLate) || err == nil && b.cfg.Now().Sub(begun) > ApprovalLimit {
		return "", needed(a.Action, errLate)
	}
	return by, err
}
