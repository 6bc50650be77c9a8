package e2btest

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// listed is one sandbox as a list has it.
type listed struct {
	SandboxID   string            `json:"sandboxID"`
	TemplateID  string            `json:"templateID"`
	ClientID    string            `json:"clientID"`
	StartedAt   time.Time         `json:"startedAt"`
	EndAt       time.Time         `json:"endAt"`
	State       string            `json:"state"`
	EnvdVersion string            `json:"envdVersion"`
	CPUCount    int               `json:"cpuCount"`
	MemoryMB    int               `json:"memoryMB"`
	DiskSizeMB  int               `json:"diskSizeMB"`
	Metadata    map[string]string `json:"metadata"`
}

// detail is one sandbox by itself.
type detail struct {
	listed
	EnvdAccessToken string   `json:"envdAccessToken,omitempty"`
	Internet        bool     `json:"allowInternetAccess"`
	Domain          *string  `json:"domain"`
	Network         *network `json:"network,omitempty"`
	Lifecycle       struct {
		OnTimeout  string `json:"onTimeout"`
		AutoResume bool   `json:"autoResume"`
	} `json:"lifecycle"`
}

// describe tells the times by the server's own clock.
func (s *Server) describe(sb *live) listed {
	s.mu.Lock()
	defer s.mu.Unlock()
	return listed{
		SandboxID: sb.id, TemplateID: sb.template, ClientID: clientID, EnvdVersion: DaemonVersion, State: "running",
		StartedAt: sb.started.Add(s.opts.Skew).UTC(), EndAt: sb.end.Add(s.opts.Skew).UTC(),
		CPUCount: 2, MemoryMB: 512, DiskSizeMB: 512, Metadata: sb.metadata,
	}
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) error {
	sb := s.find(r.PathValue("id"))
	if sb == nil {
		return notFound(r)
	}
	d := detail{listed: s.describe(sb), EnvdAccessToken: sb.token, Internet: sb.internet, Network: sb.network}
	d.Lifecycle.OnTimeout = "kill"
	writeJSON(w, http.StatusOK, d)
	return nil
}

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

func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		return err
	}
	all := s.choose(q)
	w.Header().Set("X-Total-Running", strconv.Itoa(len(all)))
	if q.from != nil {
		all = slices.DeleteFunc(all, func(l listed) bool { return !q.follows(l) })
	}
	if len(all) > q.limit {
		all = all[:q.limit]
		w.Header().Set("X-Next-Token", q.token(all[q.limit-1]))
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}

// listV1 has a filter and no pages.
func (s *Server) listV1(w http.ResponseWriter, r *http.Request) error {
	q, err := parseQuery(url.Values{"metadata": r.URL.Query()["metadata"]})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.choose(q))
	return nil
}

// choose gives what the filters leave, in order.
func (s *Server) choose(q *query) []listed {
	s.mu.Lock()
	boxes := make([]*live, 0, len(s.sandboxes))
	for _, sb := range s.sandboxes {
		boxes = append(boxes, sb)
	}
	s.mu.Unlock()
	all := []listed{}
	for _, sb := range boxes {
		if l := s.describe(sb); q.takes(l) {
			all = append(all, l)
		}
	}
	sort.Slice(all, func(i, j int) bool { return q.before(cursorOf(all[i]), cursorOf(all[j])) })
	return all
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
