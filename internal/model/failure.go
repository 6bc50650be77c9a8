package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/joystream-ai/joy/internal/fault"
)

// ErrCut is in the tree of an error for an answer that broke off.
var ErrCut = errors.New("the answer broke off")

// Failed is the fault that a failed exchange with a provider is. said is what the provider said of it, if anything; it is
// data, and shown as that.
func Failed(ctx context.Context, provider, name string, x Exchange, said string, err error) error {
	var kept *unsent
	if errors.As(err, &kept) {
		return kept.why
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if said == "" {
		said = err.Error()
	}
	tries := ""
	if x.Attempts > 1 {
		tries = fmt.Sprintf(" after %d attempts", x.Attempts)
	}
	switch x.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fault.New(fault.Consent, "model provider %s refused the key (%d): %s", provider, x.Status, said).
			WithHint("joy secret list shows where the key comes from; joy secret set gives another")
	case http.StatusNotFound:
		return fault.New(fault.Input, "model provider %s has no model %q (404): %s", provider, name, said).
			WithHint("name another in joy.yaml, or with --model")
	case http.StatusTooManyRequests:
		return fault.New(fault.Connection, "model provider %s takes no more requests now%s: %s", provider, tries, said)
	case 0, http.StatusOK:
		return fault.Wrap(fault.Connection, err, "model provider %s did not answer%s", provider, tries)
	}
	if x.Status < http.StatusBadRequest {
		return fault.New(fault.Connection, "model provider %s sends joy to another address (%d), and a key goes to the one it is for only", provider, x.Status).
			WithHint("give the address that answers as model.base_url")
	}
	return fault.New(fault.Connection, "model provider %s answered %d%s: %s", provider, x.Status, tries, said)
}

// unsent is why a request was kept here.
type unsent struct{ why error }

func (u *unsent) Error() string { return u.why.Error() }

// Again runs the exchange of a turn, and once or twice more when its answer broke off: nothing has happened yet on its account.
func Again(ctx context.Context, t Turn, say func(context.Context) (Reply, error)) (Reply, Exchange, error) {
	var x Exchange
	told := sync.OnceValue(func() error {
		if t.Sending == nil {
			return nil
		}
		return t.Sending(x.Request)
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var kept error
	ctx = context.WithValue(ctx, recordingKey{}, recording{&x, func() error {
		if why := told(); why != nil {
			kept = &unsent{why}
			cancel() // or the SDK would try again
		}
		return kept
	}})
	r, err := say(ctx)
	for range cutRetries {
		if !errors.Is(err, ErrCut) || x.Status != http.StatusOK || ctx.Err() != nil {
			break
		}
		r, err = say(ctx)
	}
	if kept != nil {
		err = kept
	}
	return r, x, err
}

const cutRetries = 2
