package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Template is one build of a template.
type Template struct {
	ID    string
	Build string
}

// Resolve finds what a template's name means now: an id, a name or team/name, each with :tag or not. The tag that a
// name without one means is default. A template of another team can be used but not looked at: ErrForbidden or
// ErrNotFound.
func (c *Client) Resolve(ctx context.Context, name string) (Template, error) {
	const op = "looking up the template"
	base, tag, tagged := strings.Cut(name, ":")
	if !tagged {
		tag = "default"
	}
	id := base
	var alias struct {
		ID string `json:"templateID"`
	}
	_, err := c.do(ctx, call{op: op, method: http.MethodGet, path: "/templates/aliases/" + url.PathEscape(base), again: true, want: http.StatusOK}, &alias)
	switch {
	case err == nil && alias.ID != "":
		id = alias.ID
	case err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrRefused): // it may be an id
		return Template{}, err
	}
	if !ValidID(id) {
		return Template{}, &Error{Op: op, Kind: ErrNotFound, Message: said(name)}
	}
	var tags []struct {
		Tag   string `json:"tag"`
		Build string `json:"buildID"`
	}
	_, err = c.do(ctx, call{op: op, method: http.MethodGet, path: "/templates/" + id + "/tags", again: true, want: http.StatusOK}, &tags)
	if errors.Is(err, ErrNotFound) && !tagged {
		return c.newest(ctx, id) // a server that has no tags
	}
	if err != nil {
		return Template{}, err
	}
	for _, t := range tags {
		if t.Tag == tag && ValidID(t.Build) {
			return Template{ID: id, Build: t.Build}, nil
		}
	}
	return Template{}, &Error{Op: op, Kind: ErrNotFound, Message: said(id + " has no tag " + tag)}
}

// newest is the build of a template that was finished last.
func (c *Client) newest(ctx context.Context, id string) (Template, error) {
	const op = "looking up the template"
	var out struct {
		Builds []struct {
			ID       string `json:"buildID"`
			Status   string `json:"status"`
			Finished string `json:"finishedAt"` // RFC 3339 in UTC, so that text compares as time
		} `json:"builds"`
	}
	_, err := c.do(ctx, call{op: op, method: http.MethodGet, path: "/templates/" + id, again: true, want: http.StatusOK}, &out)
	if err != nil {
		return Template{}, err
	}
	best := -1
	for i, b := range out.Builds {
		if b.Status == "ready" && ValidID(b.ID) && (best < 0 || b.Finished > out.Builds[best].Finished) {
			best = i
		}
	}
	if best < 0 {
		return Template{}, &Error{Op: op, Kind: ErrNotFound, Message: said(id + " has no finished build")}
	}
	return Template{ID: id, Build: out.Builds[best].ID}, nil
}
