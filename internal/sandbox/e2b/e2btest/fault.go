package e2btest

import (
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Op is a kind of request, whatever sandbox and version of the API it is for.
type Op string

// The control plane's requests, and those of the data plane. A call of the daemon's services is its path, e.g.
// "process.Process/Start".
const (
	Create     Op = "create"
	List       Op = "list"
	Get        Op = "get"
	Kill       Op = "kill"
	SetTimeout Op = "timeout"
	Refresh    Op = "refreshes"
	Connect    Op = "connect"

	Health   Op = "health"
	Upload   Op = "upload"
	Download Op = "download"

	ProcessStart   Op = "process.Process/Start"
	ProcessConnect Op = "process.Process/Connect"
	SendInput      Op = "process.Process/SendInput"
	SendSignal     Op = "process.Process/SendSignal"
	Any            Op = "" // every request
)

// opOf names a request.
func opOf(r *http.Request) Op {
	path := strings.TrimPrefix(r.URL.Path, "/")
	if forSandbox(r) {
		switch {
		case path == "files" && r.Method == http.MethodPost:
			return Upload
		case path == "files":
			return Download
		}
		return Op(path)
	}
	parts := strings.Split(strings.TrimPrefix(path, "v2/"), "/")
	switch {
	case parts[0] != "sandboxes":
		return Op(path)
	case len(parts) == 3:
		return Op(parts[2])
	case len(parts) == 1 && r.Method == http.MethodPost:
		return Create
	case len(parts) == 1:
		return List
	case r.Method == http.MethodDelete:
		return Kill
	}
	return Get
}

// Effect is what goes wrong with a request. next is the honest server.
type Effect func(w http.ResponseWriter, r *http.Request, next http.Handler)

// Fault is something that goes wrong.
type Fault struct {
	On    Op
	Skip  int // so many requests pass first
	Times int // then so many are hit; 0 is every one from then on
	Do    Effect
}

// Fault makes something go wrong from now on. A request meets the first fault that wants it. hits counts the requests that
// were hit.
func (s *Server) Fault(f Fault) (hits func() int) { return s.faults.add(f) }

// Watch calls do when a request comes, before anything is done about it. The request waits.
func (s *Server) Watch(on Op, do func()) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.watches = append(s.faults.watches, watch{on, do})
}

// Requests are those so far, faulty or not: the method, a space, the path. They are in the order in which they came.
func (s *Server) Requests() []string {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return slices.Clone(s.faults.requests)
}

// faults are those of a server, in the order they were made, and what they were tried on.
type faults struct {
	mu       sync.Mutex
	list     []*pending
	watches  []watch
	requests []string
}

type watch struct {
	on Op
	do func()
}

type pending struct {
	Fault
	seen, hit int
}

func (fs *faults) add(f Fault) (hits func() int) {
	p := &pending{Fault: f}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.list = append(fs.list, p)
	return func() int {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		return p.hit
	}
}

// pick gives what is to be done to a request, or nil.
func (fs *faults) pick(op Op) Effect {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for _, p := range fs.list {
		if p.On != Any && p.On != op {
			continue
		}
		if p.Times != 0 && p.hit >= p.Times {
			continue
		}
		if p.seen++; p.seen <= p.Skip {
			continue
		}
		p.hit++
		return p.Do
	}
	return nil
}

func (fs *faults) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fs.mu.Lock()
		fs.requests = append(fs.requests, r.Method+" "+r.URL.Path)
		watches := slices.Clone(fs.watches)
		fs.mu.Unlock()
		op := opOf(r)
		for _, w := range watches {
			if w.on == Any || w.on == op {
				w.do()
			}
		}
		if do := fs.pick(op); do != nil {
			do(w, r, next)
			return
		}
		next.ServeHTTP(w, r)
	})
}
