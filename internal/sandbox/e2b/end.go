package e2b

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

const (
	// endLimit bounds the ending of a sandbox. After it the lease still ends it, unseen.
	endLimit = 50 * time.Second
	// endPause lies between two attempts, and between two looks whether it is gone.
	endPause = 500 * time.Millisecond
	// adoptLimit is how long a sandbox is looked for that may have been made: a request in progress shows late.
	adoptLimit = 30 * time.Second
)

// end kills a sandbox and waits until the service has none of that id. ctx may be cancelled already. An error is
// sandbox.ErrAlive.
func (p *Provider) end(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	for {
		err := p.Client.Kill(ctx, id)
		if err == nil || errors.Is(err, client.ErrNotFound) {
			_, err = p.Client.Get(ctx, id)
			if errors.Is(err, client.ErrNotFound) {
				return nil
			}
			if err == nil {
				err = errors.New("it was killed and is still there")
			}
		}
		if final(err) || !sleep(ctx, endPause) {
			return fault.Wrap(fault.Platform, fmt.Errorf("%w: %w", sandbox.ErrAlive, err), "ending the sandbox %s", id).
				WithHint("joy gc; without it, its lease ends it within %s", p.leaseTime())
		}
	}
}

// final is an error that no repetition helps against.
func final(err error) bool {
	return errors.Is(err, client.ErrKey) || errors.Is(err, client.ErrForbidden) || errors.Is(err, client.ErrProtocol)
}

// sleep is false when ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// adopt finds what became of a request whose answer did not come. Nothing else has its nonce. A sandbox is taken over
// unless ctx has ended meanwhile: then it is ended. Where none shows up, the request may still be under way: that is
// sandbox.ErrAlive, unless the service itself said that it failed.
func (p *Provider) adopt(ctx context.Context, nonce string, why error) (client.Created, error) {
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), cmp.Or(p.looking, adoptLimit))
	defer cancel()
	var e *client.Error
	answered := errors.As(why, &e) && e.Err != nil && errors.Is(e.Err, client.ErrUnavailable)
	for pause, looks := endPause, 0; ; pause *= 2 {
		found, err := p.ofNonce(looking, nonce)
		switch {
		case len(found) > 0: // in whatever list: the nonce is of one request
			return p.takeOver(ctx, found)
		case err == nil:
			looks++
		case final(err):
			return client.Created{}, alive(why, err)
		}
		if answered && looks >= 3 {
			return client.Created{}, why
		}
		if !sleep(looking, pause) {
			return client.Created{}, alive(why, err)
		}
	}
}

// alive is a request after which a sandbox may live.
func alive(why, looking error) error {
	if looking == nil {
		return fmt.Errorf("%w: %w", sandbox.ErrAlive, why)
	}
	return fmt.Errorf("%w: %w; %w", sandbox.ErrAlive, why, looking)
}

// takeOver gives the first of the sandboxes and ends the others, of which there are none unless a proxy sent the request
// twice.
func (p *Provider) takeOver(ctx context.Context, found []client.Sandbox) (client.Created, error) {
	var errs []error
	for _, s := range found[1:] {
		errs = append(errs, p.end(ctx, s.ID))
	}
	id := found[0].ID
	err := errors.Join(append(errs, ctx.Err())...)
	if err == nil {
		var s client.Sandbox
		if s, err = p.Client.Get(ctx, id); err == nil {
			return s.Created, nil
		}
	}
	return client.Created{}, errors.Join(err, p.end(ctx, id))
}

// ofNonce is the sandboxes of one request, by tags that were looked at here. With an error there may be more.
func (p *Provider) ofNonce(ctx context.Context, nonce string) ([]client.Sandbox, error) {
	list, err := p.Client.List(ctx, map[string]string{tagNonce: nonce})
	return p.owned(list), err
}

func (p *Provider) owned(list []client.Sandbox) []client.Sandbox {
	var out []client.Sandbox
	for _, s := range list {
		if p.Owner.owns(s.Metadata) {
			out = append(out, s)
		}
	}
	return out
}
