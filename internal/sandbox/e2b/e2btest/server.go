package e2btest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sort"
	"sync"
	"testing"
	"time"
)

// Options of a server. The zero value of a field means its default.
type Options struct {
	Runner    Runner        // what makes machines (Namespaces)
	Templates []string      // names of what may be created, name or team/name ("base")
	Most      int           // how many sandboxes may live at once (20)
	Longest   time.Duration // how long one may live, however often it is extended (1 h)
	Rate      int           // control plane requests per second; 0 is no limit
	Skew      time.Duration // how far the server's clock is ahead of this one
}

// Server is one E2B. It ends with its test, and so do its machines.
type Server struct {
	URL string // of the control plane, and of every sandbox
	Key string // the API key it takes

	opts   Options
	http   *httptest.Server
	faults faults
	pace   pace

	mu        sync.Mutex
	sandboxes map[string]*live
	templates []*template
	making    int // sandboxes whose machine is being made; they count against Most
	closed    bool
	ends      []error // of machines that did not end as they should
}

// Start starts a server.
func Start(t testing.TB, opts Options) *Server {
	t.Helper()
	if opts.Runner == nil {
		opts.Runner = Namespaces{}
	}
	if opts.Templates == nil {
		opts.Templates = []string{"base"}
	}
	if opts.Most == 0 {
		opts.Most = 20
	}
	if opts.Longest == 0 {
		opts.Longest = time.Hour
	}
	if _, err := daemon(); err != nil { // not within the time that a client gives its first sandbox
		t.Fatalf("e2btest: %v", err)
	}
	if r, ok := opts.Runner.(interface{ prepare() error }); ok {
		if err := r.prepare(); err != nil {
			t.Fatalf("e2btest: %v", err)
		}
	}
	s := &Server{Key: "e2b_" + randomHex(40), opts: opts, sandboxes: map[string]*live{}}
	s.pace.rate = opts.Rate
	for _, name := range opts.Templates {
		s.templates = append(s.templates, &template{name: name, at: time.Now()})
	}
	s.http = httptest.NewServer(s.faults.around(s.handler()))
	s.URL = s.http.URL
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("e2btest: %v", err)
		}
	})
	return s
}

// Close kills every sandbox and ends the server. It returns when no process of any machine is left; an error says which
// machine did not end by itself. Idempotent.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	left := make([]*live, 0, len(s.sandboxes))
	for _, sb := range s.sandboxes {
		left = append(left, sb)
	}
	s.mu.Unlock()
	for _, sb := range left {
		s.end(sb)
	}
	s.http.CloseClientConnections()
	s.http.Close() // waits for a create in progress, which finds the server closed and ends its machine
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.ends...)
}

// Env is what a client's process needs in its environment to take this server for E2B.
func (s *Server) Env() []string {
	return []string{"E2B_API_URL=" + s.URL, "E2B_SANDBOX_URL=" + s.URL, "E2B_API_KEY=" + s.Key}
}

// Sandbox is what a test may know of a live sandbox.
type Sandbox struct {
	ID       string
	Template string // id
	Metadata map[string]string
	Started  time.Time // by this machine's clock, whatever Skew is
	End      time.Time // when its lease ends
}

// Sandboxes are the live ones, the oldest first.
func (s *Server) Sandboxes() []Sandbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Sandbox, 0, len(s.sandboxes))
	for _, sb := range s.sandboxes {
		list = append(list, Sandbox{sb.id, sb.template, maps.Clone(sb.metadata), sb.started, sb.end})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Started.Before(list[j].Started) })
	return list
}

// Lose ends a sandbox's machine as a failed node does: at once, and nobody is told. It reports whether there was one.
func (s *Server) Lose(id string) bool {
	s.mu.Lock()
	sb := s.sandboxes[id]
	s.mu.Unlock()
	if sb == nil {
		return false
	}
	s.end(sb)
	return true
}

// live is one live sandbox. Its fields but the lease never change.
type live struct {
	id, template, token, trafficToken string
	metadata                          map[string]string
	secure, internet                  bool
	network                           *network
	machine                           Machine
	toDaemon                          *http.Transport
	started                           time.Time
	once                              sync.Once

	// Under the server's mutex.
	end   time.Time
	lease *time.Timer
}

// find gives a live sandbox; an id may carry the client id that old ones had.
func (s *Server) find(id string) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sandboxes[bareID(id)]
}

// end kills a sandbox: it is unknown first, then its machine is gone.
func (s *Server) end(sb *live) {
	sb.once.Do(func() {
		s.mu.Lock()
		delete(s.sandboxes, sb.id)
		sb.lease.Stop()
		s.mu.Unlock()
		err := sb.machine.Close()
		sb.toDaemon.CloseIdleConnections()
		if err != nil {
			s.mu.Lock()
			s.ends = append(s.ends, fmt.Errorf("sandbox %s: %w", sb.id, err))
			s.mu.Unlock()
		}
	})
}

// transport carries requests to a sandbox's daemon, whatever address they name.
func (sb *live) transport() *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return sb.machine.Dial(ctx) },
		DisableCompression: true, // a client's own wish is passed on
	}
}
