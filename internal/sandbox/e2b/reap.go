package e2b

import (
	"context"
	"errors"
	"fmt"

	"github.com/joystream-ai/joy/internal/fault"
	"github.com/joystream-ai/joy/internal/sandbox/e2b/client"
)

// Alive says whether what an id of the index names is still there. An error is that nobody can tell.
func (p *Provider) Alive(ctx context.Context, id string) (bool, error) {
	found, err := p.named(ctx, id)
	if len(found) > 0 {
		return true, nil
	}
	return false, err
}

// Reap ends what an id of the index names and waits until it is gone. It reports whether there was something.
func (p *Provider) Reap(ctx context.Context, id string) (bool, error) {
	found, err := p.named(ctx, id)
	for _, s := range found {
		err = errors.Join(err, p.end(ctx, s.ID))
	}
	return len(found) > 0, err
}

// named is the sandboxes that an id means; with an error there may be more. One whose tags are not this owner's is an error and is left alone: the index
// names it, and somebody else made it.
func (p *Provider) named(ctx context.Context, text string) ([]client.Sandbox, error) {
	place, id, nonce, err := parseID(text)
	if err != nil {
		return nil, err
	}
	if place != p.Client.Place() {
		return nil, fault.New(fault.Platform, "the sandbox %s is at %s, and joy is set up for %s", text, place, p.Client.Place()).
			WithHint("set E2B_DOMAIN or E2B_API_URL, and E2B_API_KEY, as they were for that run")
	}
	if nonce != "" {
		found, err := p.ofNonce(ctx, nonce)
		return found, p.explain(err)
	}
	s, err := p.Client.Get(ctx, id)
	switch {
	case errors.Is(err, client.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, p.explain(err)
	case !p.Owner.owns(s.Metadata):
		return nil, fault.New(fault.Platform, "the sandbox %s does not have this user's tags: it is left alone", text)
	}
	return []client.Sandbox{s}, nil
}

// Orphan is a sandbox of this owner whose run is not living.
type Orphan struct {
	ID  string // as the index would name it
	Run string
}

// Orphans are the sandboxes of this owner, of all pages, but for those of runs that live. With an error it is those that
// were found before.
func (p *Provider) Orphans(ctx context.Context, lives func(run string) bool) ([]Orphan, error) {
	list, err := p.Client.List(ctx, map[string]string{tagOwner: p.Owner.id()})
	if err != nil {
		err = fmt.Errorf("looking for sandboxes at %s: %w", p.Client.Place(), p.explain(err))
	}
	var out []Orphan
	for _, s := range p.owned(list) {
		if !lives(s.Metadata[tagRun]) {
			out = append(out, Orphan{p.sandboxID(s.ID), s.Metadata[tagRun]})
		}
	}
	return out, err
}
