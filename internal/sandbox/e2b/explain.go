package e2b

import (
	"context"
	"errors"
	"fmt"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

// hints say what to do about a kind of failure.
var hints = []struct {
	kind error
	of   fault.Kind
	hint string
}{
	{client.ErrKey, fault.Consent, "set E2B_API_KEY to a key of the account (https://e2b.dev/dashboard?tab=keys)"},
	{client.ErrForbidden, fault.Consent, "the account lacks a right: look at https://e2b.dev/dashboard, and whose the template is"},
	{client.ErrQuota, fault.Platform, "joy gc ends what dead runs left; else wait for the account's other sandboxes, or ask E2B for more"},
	{client.ErrRate, fault.Platform, "try again in a minute"},
	{client.ErrNotFound, fault.Input, "check e2b_template in joy.yaml against the account's templates"},
}

// explain says whose failure an error of the client is and what to do about it.
func (p *Provider) explain(err error) error {
	var known *fault.Error
	switch {
	case err == nil, errors.As(err, &known), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, client.ErrLost) && !errors.Is(err, sandbox.ErrLost):
		err = fmt.Errorf("%w: %w", sandbox.ErrLost, err)
	}
	lost := errors.Is(err, sandbox.ErrLost) // whatever it was that showed it
	for _, h := range hints {
		if errors.Is(err, h.kind) && !lost {
			return fault.Wrap(h.of, err, "E2B at %s", p.Client.Place()).WithHint("%s", h.hint)
		}
	}
	return fault.Wrap(fault.Platform, err, "E2B at %s", p.Client.Place())
}
