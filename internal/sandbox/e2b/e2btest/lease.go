package e2btest

import (
	"net/http"
	"time"
)

// expire ends a sandbox whose lease is over, unless it was extended meanwhile.
func (s *Server) expire(sb *live) {
	s.mu.Lock()
	over := !time.Now().Before(sb.end)
	s.mu.Unlock()
	if over {
		s.end(sb)
	}
}

// extend moves the end of a lease, at most to the longest life. Without shorten an earlier end is left as it is.
func (s *Server) extend(sb *live, by time.Duration, shorten bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := time.Now().Add(by)
	if last := sb.started.Add(s.opts.Longest); end.After(last) {
		end = last
	}
	if end.Before(sb.end) && !shorten {
		return
	}
	sb.end = end
	sb.lease.Reset(time.Until(end))
}

// setTimeout sets the end of a lease from now on. More than the longest life is cut down to it and succeeds all the same,
// as E2B does: whoever wants to know reads endAt.
func (s *Server) setTimeout(w http.ResponseWriter, r *http.Request) error {
	var req struct{ Timeout *int64 }
	if err := readBody(r, &req, false); err != nil {
		return err
	}
	sb := s.find(r.PathValue("id"))
	switch {
	case req.Timeout == nil || *req.Timeout < 0:
		return refuse(http.StatusBadRequest, `Error when validating request: property "timeout" must be a number of seconds`)
	case sb == nil:
		return notFound(r)
	}
	s.extend(sb, time.Duration(*req.Timeout)*time.Second, true)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// Bounds of a refresh, in seconds.
const (
	shortestRefresh = 15
	longestRefresh  = 3600
)

// refresh only extends.
func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	req := struct{ Duration int64 }{shortestRefresh}
	if err := readBody(r, &req, true); err != nil {
		return err
	}
	sb := s.find(r.PathValue("id"))
	switch {
	case req.Duration < 0 || req.Duration > longestRefresh:
		return refuse(http.StatusBadRequest, "Error when validating request: duration must be from 0 to %d", longestRefresh)
	case sb == nil:
		return notFound(r)
	}
	s.extend(sb, time.Duration(max(shortestRefresh, req.Duration))*time.Second, false)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// connect answers like create for a sandbox that runs, and extends its lease.
func (s *Server) connect(w http.ResponseWriter, r *http.Request, v version) error {
	var req struct{ Timeout *int64 }
	if err := readBody(r, &req, v == v2); err != nil {
		return err
	}
	if req.Timeout == nil && v == v2 {
		seconds := defaultTimeout[v2]
		req.Timeout = &seconds
	}
	sb := s.find(r.PathValue("id"))
	switch {
	case req.Timeout == nil || *req.Timeout < 0:
		return refuse(http.StatusBadRequest, `Error when validating request: property "timeout" is missing`)
	case time.Duration(*req.Timeout)*time.Second > s.opts.Longest:
		return refuse(http.StatusBadRequest, "Timeout cannot be greater than %v hours", s.opts.Longest.Hours())
	case sb == nil:
		return notFound(r)
	}
	s.extend(sb, time.Duration(*req.Timeout)*time.Second, false)
	writeJSON(w, http.StatusOK, sb.created())
	return nil
}

// resume is for paused sandboxes, and here there are none.
func (s *Server) resume(_ http.ResponseWriter, r *http.Request) error {
	if s.find(r.PathValue("id")) == nil {
		return notFound(r)
	}
	return refuse(http.StatusConflict, "Sandbox %s is already running", bareID(r.PathValue("id")))
}

// kill answers when the machine is gone.
func (s *Server) kill(w http.ResponseWriter, r *http.Request) error {
	sb := s.find(r.PathValue("id"))
	if sb == nil {
		return notFound(r)
	}
	s.end(sb)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
