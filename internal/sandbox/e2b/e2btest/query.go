package e2btest

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxPage is the largest page of a list, and the one that is given unasked.
const maxPage = 100

// query is what a list is asked for.
type query struct {
	metadata  map[string]string
	states    []string
	template  string
	after     time.Time
	ascending bool
	limit     int
	from      *cursor
}

// cursor is the last sandbox of a page.
type cursor struct {
	started time.Time
	id      string
}

func parseQuery(v url.Values) (*query, error) {
	q := &query{limit: maxPage, template: v.Get("template"), ascending: v.Get("order") == "asc"}
	if order := v.Get("order"); order != "" && order != "asc" && order != "desc" {
		return nil, refuse(http.StatusBadRequest, "Invalid order %q", order)
	}
	if text := v.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxPage {
			return nil, refuse(http.StatusBadRequest, "Invalid limit %q: from 1 to %d", text, maxPage)
		}
		q.limit = n
	}
	if text := v.Get("startedAfter"); text != "" {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil, refuse(http.StatusBadRequest, "Invalid startedAfter %q", text)
		}
		q.after = at
	}
	for _, list := range v["state"] {
		for state := range strings.SplitSeq(list, ",") {
			if state != "running" && state != "paused" {
				return nil, refuse(http.StatusBadRequest, "Invalid state %q", state)
			}
			q.states = append(q.states, state)
		}
	}
	var err error
	if q.metadata, err = parseMetadata(v.Get("metadata")); err != nil {
		return nil, err
	}
	if text := v.Get("nextToken"); text != "" {
		if q.from, err = parseToken(text); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// parseMetadata decodes a filter twice more than the query itself was: once as a whole, then each key and value.
func parseMetadata(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	bad := func(what string) error {
		return refuse(http.StatusBadRequest, "Error parsing metadata: invalid key value pair in query: %s", what)
	}
	whole, err := url.QueryUnescape(text)
	if err != nil {
		return nil, bad(text)
	}
	filter := map[string]string{}
	for pair := range strings.SplitSeq(whole, "&") {
		parts := strings.Split(pair, "=")
		if len(parts) != 2 {
			return nil, bad(pair)
		}
		k, errK := url.QueryUnescape(parts[0])
		v, errV := url.QueryUnescape(parts[1])
		if errK != nil || errV != nil {
			return nil, bad(pair)
		}
		filter[k] = v
	}
	return filter, nil
}

func (q *query) takes(l listed) bool {
	for k, want := range q.metadata {
		if have, ok := l.Metadata[k]; !ok || have != want {
			return false
		}
	}
	return (q.states == nil || slices.Contains(q.states, l.State)) &&
		(q.template == "" || q.template == l.TemplateID) && l.StartedAt.After(q.after)
}

func cursorOf(l listed) cursor { return cursor{l.StartedAt, l.SandboxID} }

// before is the order of the list: the newest first, unless asked otherwise.
func (q *query) before(a, b cursor) bool {
	if q.ascending {
		a, b = b, a
	}
	if !a.started.Equal(b.started) {
		return a.started.After(b.started)
	}
	return a.id > b.id
}

func (q *query) follows(l listed) bool { return q.before(*q.from, cursorOf(l)) }

// token names the last sandbox of a page.
func (q *query) token(last listed) string {
	text := last.StartedAt.Format(time.RFC3339Nano) + "__" + last.SandboxID
	if q.ascending {
		text += "__asc"
	}
	return base64.URLEncoding.EncodeToString([]byte(text))
}

func parseToken(text string) (*cursor, error) {
	b, err := base64.URLEncoding.DecodeString(text)
	parts := strings.Split(string(b), "__")
	if err == nil && len(parts) >= 2 {
		var at time.Time
		if at, err = time.Parse(time.RFC3339Nano, parts[0]); err == nil {
			return &cursor{at, parts[1]}, nil
		}
	}
	return nil, refuse(http.StatusBadRequest, "Invalid next token")
}
