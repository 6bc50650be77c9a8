package e2btest

import (
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
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
