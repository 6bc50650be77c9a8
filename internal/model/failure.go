package model

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
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
	known := said != ""
	if !known {
		said = err.Error()
	}
	said = shortened(said)
	tries := ""
	if x.Attempts > 1 {
		tries = fmt.Sprintf(" after %d attempts", x.Attempts)
	}
	switch {
	case x.Status == http.StatusUnauthorized || x.Status == http.StatusForbidden:
		return fault.New(fault.Consent, "model provider %s refused the key (%d): %s", provider, x.Status, said).
			WithHint("joy secret list shows where the key comes from; joy secret set gives another")
	case x.Status == http.StatusNotFound && known:
		return fault.New(fault.Input, "model provider %s has no model %q (404): %s", provider, name, said).
			WithHint("name another in joy.yaml, or with --model")
	case x.Status == http.StatusNotFound:
		return fault.New(fault.Input, "model provider %s has nothing at this address, or no model %q (404)", provider, name).WithHint("%s", whereAPI)
	case x.Status == http.StatusTooManyRequests:
		return fault.New(fault.Connection, "model provider %s takes no more requests now%s: %s", provider, tries, said)
	case errors.Is(err, errNoStream):
		return fault.New(fault.Connection, "model provider %s answers %.80q, and not a stream of events", provider, x.media).WithHint("%s", whereAPI)
	case errors.Is(err, bufio.ErrTooLong):
		return fault.New(fault.Connection, "model provider %s did not answer%s: an event is longer than %d MiB", provider, tries, maxResponse>>20)
	case x.Status == 0 || x.Status == http.StatusOK:
		if long := err.Error(); len(long) > mostSaid {
			err = errors.New(shortened(long))
		}
		return fault.Wrap(fault.Connection, err, "model provider %s did not answer%s", provider, tries)
	case x.Status < http.StatusBadRequest:
		return fault.New(fault.Connection, "model provider %s sends joy to another address (%d), and a key goes to the one it is for only", provider, x.Status).
			WithHint("give the address that answers as model.base_url")
	}
	return fault.New(fault.Connection, "model provider %s answered %d%s: %s", provider, x.Status, tries, said)
}

const whereAPI = "model.base_url is where the API begins: for most servers that speak OpenAI's it ends in /v1"

// errNoStream is in the tree of an error for an answer of another kind.
var errNoStream = errors.New("the answer is not a stream of events")

// mostSaid bounds what is told of a provider's words on an error, in bytes: some send pages.
const mostSaid = 1 << 10

func shortened(s string) string {
	if len(s) <= mostSaid {
		return s
	}
	return strings.ToValidUTF8(s[:mostSaid], "") + " …"
}

// unsent is why a request was kept here, or not sent again.
type unsent struct{ why error }

func (u *unsent) Error() string { return u.why.Error() }

// Again runs the exchange of a turn, and once or twice more when its answer broke off: nothing has happened yet on its account.
// say gives what it has of a reply with an error, too: what was used is counted. keeps is what may be kept of the request, nil: all of
// it.
func Again(ctx context.Context, t Turn, keeps []byte, say func(context.Context) (Reply, error)) (Reply, Exchange, error) {
	r, x, err := again(ctx, t, keeps, say)
	if x.Kept = x.Response; t.Keep != nil {
		x.Kept = t.Keep(x.Response)
	}
	return r, x, err
}

func again(ctx context.Context, t Turn, keeps []byte, say func(context.Context) (Reply, error)) (Reply, Exchange, error) {
	var x Exchange
	told := sync.OnceValue(func() error {
		if t.Sending == nil {
			return nil
		}
		if keeps == nil {
			keeps = x.Request
		}
		return t.Sending(x.Request, keeps)
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var kept error
	hold := func(why error) error {
		kept = &unsent{why}
		cancel() // or the SDK would try again
		return kept
	}
	ctx = context.WithValue(ctx, recordingKey{}, recording{&x, func() error {
		if why := told(); why != nil {
			return hold(why)
		}
		return nil
	}, hold})
	var used Usage
	estimated := false
	for n := 0; ; n++ {
		r, err := say(ctx)
		if err == nil {
			err = r.check()
		}
		u := r.Usage.credible()
		if u.Total() == 0 && x.Status == http.StatusOK {
			u, estimated = estimate(x, r), true
		}
		used = used.Add(u)
		r.Usage, r.Estimated = used, estimated
		cut := errors.Is(err, ErrCut) && x.Status == http.StatusOK && !errors.Is(err, errTooLong)
		if cut && x.media != "" && x.media != "text/event-stream" {
			cut, err = false, errNoStream
		}
		if kept != nil {
			err = kept
		}
		if !cut || n == cutRetries || ctx.Err() != nil {
			return r, x, err
		}
		if t.Repeat != nil {
			if why := t.Repeat(used, u); why != nil {
				return r, x, &unsent{why}
			}
		}
	}
}

const cutRetries = 2
