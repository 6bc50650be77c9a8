package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// CreateRequest is a sandbox to be. It is always secured by a token, never reachable from the outside, never paused and
// never saved: those fields are no choice here.
type CreateRequest struct {
	Template string            // id, name, team/name, each with :tag or not
	Lease    time.Duration     // whole seconds, at least one: it ends by itself when nobody sets a later end
	Metadata map[string]string // keys and values of [A-Za-z0-9_.-]: the filter of a list decodes others several times
	Internet bool              // whether processes in it can reach anything
}

// Created is what the answer to a create says.
type Created struct {
	ID          string `json:"sandboxID"`
	Template    string `json:"templateID"`
	Daemon      string `json:"envdVersion"`
	AccessToken Secret `json:"envdAccessToken"`
	Domain      string `json:"domain"`
}

// Sandbox is what the service says of one. A listed one has no AccessToken and no Domain.
type Sandbox struct {
	Created
	State    string            `json:"state"` // running | paused
	Started  time.Time         `json:"startedAt"`
	End      time.Time         `json:"endAt"` // when it ends unless that is moved
	CPUs     int               `json:"cpuCount"`
	MemoryMB int64             `json:"memoryMB"`
	DiskMB   int64             `json:"diskSizeMB"`
	Metadata map[string]string `json:"metadata"`
}

// Create makes a sandbox and returns when it is up. It is never sent twice once it may have taken effect: then, and
// whenever the service failed while it worked, errors.Is(err, ErrUnknown) and a list by a tag that nothing else has is
// the only way to know. One that is under way when ctx ends is waited for a little longer, for the same reason.
func (c *Client) Create(ctx context.Context, r CreateRequest) (Created, error) {
	const op = "creating a sandbox"
	if err := r.check(); err != nil {
		return Created{}, fmt.Errorf("%s: %w", op, err)
	}
	// The first form of the request, with what the second takes for granted said: older servers know no other.
	body := map[string]any{
		"templateID": r.Template, "timeout": int(r.Lease / time.Second), "metadata": r.Metadata, "secure": true,
		"allow_internet_access": r.Internet, "autoPause": false, "network": map[string]any{"allowPublicTraffic": false},
	}
	var out Created
	_, err := c.do(ctx, call{op: op, method: http.MethodPost, path: "/sandboxes", body: body, linger: true, want: http.StatusCreated}, &out)
	var e *Error
	switch {
	case errors.As(err, &e) && !neverSent(e.Err) && (errors.Is(e.Kind, ErrUnavailable) || errors.Is(e.Kind, ErrProtocol)):
		return Created{}, &Error{Op: op, Kind: ErrUnknown, Err: err}
	case err != nil:
		return Created{}, err
	case !ValidID(out.ID):
		return Created{}, &Error{Op: op, Kind: ErrUnknown, Message: "the answer names no sandbox"}
	}
	return out, nil
}

func (r CreateRequest) check() error {
	if r.Template == "" || r.Lease < time.Second || r.Lease%time.Second != 0 {
		return fmt.Errorf("a template and a lease of whole seconds are needed, not %q and %s", r.Template, r.Lease)
	}
	for k, v := range r.Metadata {
		if !plainTag(k) || !plainTag(v) {
			return fmt.Errorf("the tag %q=%q has characters beyond [A-Za-z0-9_.-]", k, v)
		}
	}
	return nil
}

func plainTag(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-' {
			return false
		}
	}
	return s != ""
}

// ValidID holds for every id that E2B gives and for none that could lead elsewhere in a path or a host name.
func ValidID(id string) bool {
	for _, r := range id {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return id != "" && len(id) <= 64 && id[0] != '-'
}

// Get is a sandbox as it is now. One that is gone, or about to go, is ErrNotFound.
func (c *Client) Get(ctx context.Context, id string) (Sandbox, error) {
	const op = "looking at the sandbox"
	var out Sandbox
	k, err := c.on(op, id, "")
	if err != nil {
		return out, err
	}
	k.method, k.again, k.want = http.MethodGet, true, http.StatusOK
	if _, err := c.do(ctx, k, &out); err != nil {
		return Sandbox{}, err
	}
	if out.ID != id {
		return Sandbox{}, &Error{Op: op, Kind: ErrProtocol, Message: "the answer is of another sandbox"}
	}
	return out, nil
}

// SetEnd has the sandbox end after d from now, earlier or later than before. The service may silently grant less: Get
// tells. A sandbox that is gone is ErrNotFound, one that ends or was paused ErrConflict, and one that may live no longer
// ErrRefused.
func (c *Client) SetEnd(ctx context.Context, id string, d time.Duration) error {
	k, err := c.on("extending the sandbox's lease", id, "/timeout")
	if err != nil {
		return err
	}
	k.method, k.again, k.want = http.MethodPost, true, http.StatusNoContent
	k.body = map[string]int{"timeout": int(d / time.Second)}
	_, err = c.do(ctx, k, nil)
	return err
}

// Kill ends a sandbox, running or paused. One that is gone already is ErrNotFound.
func (c *Client) Kill(ctx context.Context, id string) error {
	k, err := c.on("ending the sandbox", id, "")
	if err != nil {
		return err
	}
	k.method, k.again, k.want = http.MethodDelete, true, http.StatusNoContent
	_, err = c.do(ctx, k, nil)
	return err
}

func (c *Client) on(op, id, rest string) (call, error) {
	if !ValidID(id) {
		return call{}, fmt.Errorf("%s: %q is not an id of one", op, id)
	}
	return call{op: op, path: "/sandboxes/" + id + rest}, nil
}

// maxPages bounds a list: far beyond what an account may have at once, and no server can make it endless.
const maxPages = 200

// List is every sandbox, running or paused, that has all the tags. It is complete or comes with an error: then it is what
// was found before. A server may not know the filter: what does not have the tags is left out here.
func (c *Client) List(ctx context.Context, tags map[string]string) ([]Sandbox, error) {
	const op = "listing sandboxes"
	filter := url.Values{}
	for k, v := range tags {
		if !plainTag(k) || !plainTag(v) {
			return nil, fmt.Errorf("%s: the tag %q=%q has characters beyond [A-Za-z0-9_.-]", op, k, v)
		}
		filter.Set(k, v)
	}
	query := url.Values{"state": {"running,paused"}, "limit": {strconv.Itoa(100)}}
	if len(filter) > 0 {
		query.Set("metadata", filter.Encode())
	}
	var all []Sandbox
	seen, listed := map[string]bool{}, map[string]bool{}
	for range maxPages {
		var page []Sandbox
		head, err := c.do(ctx, call{op: op, method: http.MethodGet, path: "/v2/sandboxes", query: query, again: true, want: http.StatusOK}, &page)
		if err != nil {
			return all, err
		}
		for _, s := range page {
			if ValidID(s.ID) && s.has(tags) && !listed[s.ID] { // pages may overlap
				listed[s.ID] = true
				all = append(all, s)
			}
		}
		next := head.Get("X-Next-Token")
		switch {
		case next == "":
			return all, nil
		case seen[next]:
			return all, &Error{Op: op, Kind: ErrProtocol, Message: "its pages go in a circle"}
		}
		seen[next] = true
		query.Set("nextToken", next)
	}
	return all, &Error{Op: op, Kind: ErrProtocol, Message: fmt.Sprintf("more than %d pages", maxPages)}
}

func (s Sandbox) has(tags map[string]string) bool {
	for k, v := range tags {
		if s.Metadata[k] != v {
			return false
		}
	}
	return true
}
