package e2b

import (
	"errors"
	"fmt"
	"time"

	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

// keepLease extends the lease as long as the box lives. An extension that fails for now is no loss: it is tried again
// and again while the lease lasts, and the sandbox is gone only when E2B says so.
func (b *box) keepLease(lease time.Duration) {
	limit, extended, last := false, false, time.Time{}
	for pause := lease / 3; sleep(b.life, pause); {
		pause = lease / 3
		if !limit {
			err := b.provider.Client.SetEnd(b.life, b.id, lease)
			extended = err == nil
			switch {
			case errors.Is(err, client.ErrNotFound), errors.Is(err, client.ErrConflict):
				b.gone(fmt.Errorf("%w: %w", client.ErrLost, err))
				return
			case errors.Is(err, client.ErrRefused):
				limit = true // it may live no longer than the account allows
			case err != nil:
				pause = lease / 12
			}
		}
		s, err := b.provider.Client.Get(b.life, b.id)
		switch {
		case errors.Is(err, client.ErrNotFound) && limit:
			b.gone(fmt.Errorf("%w: the account lets no sandbox live longer", client.ErrLost))
			return
		case errors.Is(err, client.ErrNotFound):
			b.gone(fmt.Errorf("%w: E2B has no sandbox %s any more", client.ErrLost, b.id))
			return
		case err == nil && s.State != "running":
			b.gone(fmt.Errorf("%w: it is %s, which joy never asks for", client.ErrLost, printable(s.State)))
			return
		case err == nil:
			limit = limit || extended && !s.End.After(last) // E2B grants less than was asked for and says nothing
			last = s.End
		}
	}
}
