package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/joystream-ai/joy/internal/broker"
	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/plan"
)

// halt ends the whole run with a failure: what only the broker may know is elsewhere, and nothing that runs may go on.
type halt struct{ err error }

func (h *halt) Error() string { return h.err.Error() }

func (r *run) halt(err error) { r.stop(&halt{err}) }

// watch ends the run when one of the secrets that were found is a connection's credential.
func (r *run) watch(where string, f found) {
	if !f.rule && r.Broker.Credential(f.name) {
		r.halt(fault.Wrap(fault.Policy, broker.ErrCredential, "the secret %s is in %s, which came out of the VM; what holds it is withheld", f.name, where))
	}
}

// breach is the end of a step whose door was closed for good.
type breach struct{ why error }

func (b *breach) Error() string { return b.why.Error() }

// forbidden is why a context was ended for what the step, or another, may not do; nil: it was not.
func forbidden(ctx context.Context) error {
	var halted *halt
	var closed *breach
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &halted):
		return halted.err
	case errors.As(cause, &closed):
		return closed.why
	}
	return nil
}

// breached says how to end a step when its door closes.
func (r *run) breached(end context.CancelCauseFunc) func(error) {
	return func(why error) {
		if errors.Is(why, broker.ErrCredential) {
			r.halt(why)
		}
		end(&breach{why})
	}
}

// denied makes a step that was denied a call a failed one, whatever it says itself: its script may have taken the denial
// for an answer. A failure that is not the script's own stays what it is.
func (r *run) denied(s plan.Step, f *Failure) *Failure {
	d := r.Broker.Denied(s.ID)
	if d.Calls == 0 || f != nil && (f.Kind != fault.Agent || f.Timeout || errors.Is(f.Err, ErrInterrupted)) {
		return f
	}
	err := d.First
	if d.Calls > 1 {
		err = fmt.Errorf("%w, and %d calls more", err, d.Calls-1)
	}
	if f != nil {
		err = fmt.Errorf("%w; then %w", err, f.Err)
	}
	return ofFault(err)
}
