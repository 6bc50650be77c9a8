package e2btest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// DaemonVersion is the version that sandboxes say their daemon has: it decides what the official SDK asks of it.
const DaemonVersion = "0.6.13"

// version is that of a route.
type version int

const (
	v1 version = 1
	v2 version = 2
)

// defaultTimeout is the lease of a sandbox whose creator did not name one, in seconds.
var defaultTimeout = map[version]int64{v1: 15, v2: 300}

type network struct {
	AllowOut           []string `json:"allowOut,omitempty"`
	DenyOut            []string `json:"denyOut,omitempty"`
	AllowPublicTraffic *bool    `json:"allowPublicTraffic,omitempty"`
}

type createRequest struct {
	TemplateID   string            `json:"templateID"`
	Timeout      *int64            `json:"timeout"`
	Metadata     map[string]string `json:"metadata"`
	EnvVars      map[string]string `json:"envVars"`
	Secure       bool              `json:"secure"`
	Internet     *bool             `json:"allow_internet_access"`
	Network      *network          `json:"network"`
	AutoPause    bool              `json:"autoPause"`
	AutoResume   *struct{ Enabled bool }
	MCP          json.RawMessage `json:"mcp"`
	VolumeMounts []any           `json:"volumeMounts"`
}

type created struct {
	SandboxID          string  `json:"sandboxID"`
	TemplateID         string  `json:"templateID"`
	ClientID           string  `json:"clientID"`
	EnvdVersion        string  `json:"envdVersion"`
	EnvdAccessToken    string  `json:"envdAccessToken,omitempty"`
	TrafficAccessToken *string `json:"trafficAccessToken"`
	Domain             *string `json:"domain"`
}

// clientID is the deprecated second half of an id, which E2B still sends.
const clientID = "6532622b"

// create makes a sandbox. Its lease begins when its machine is up.
func (s *Server) create(w http.ResponseWriter, r *http.Request, v version) error {
	var req createRequest
	if err := readBody(r, &req, false); err != nil {
		return err
	}
	if v == v2 {
		req.Secure = true
	}
	lease, err := s.check(&req, v)
	if err != nil {
		return err
	}
	if err := s.reserve(); err != nil {
		return err
	}
	sb, err := s.make(r.Context(), &req)
	s.mu.Lock()
	s.making--
	closed := s.closed
	if err == nil && !closed {
		sb.started = time.Now()
		sb.end = sb.started.Add(lease)
		sb.lease = time.AfterFunc(lease, func() { s.expire(sb) })
		s.sandboxes[sb.id] = sb
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return &apiError{Code: http.StatusInternalServerError, Message: "Failed to create sandbox: " + err.Error(), ErrorCode: "sandbox_create_failed"}
	case closed:
		return sb.machine.Close()
	}
	go func() { // a machine that ended by itself is no sandbox any more
		<-sb.machine.Done()
		s.end(sb)
	}()
	writeJSON(w, http.StatusCreated, sb.created())
	return nil
}

// check gives the lease that a request asks for, and makes its template an id.
func (s *Server) check(req *createRequest, v version) (time.Duration, error) {
	s.mu.Lock()
	t := s.template(req.TemplateID)
	s.mu.Unlock()
	seconds := defaultTimeout[v]
	if req.Timeout != nil {
		seconds = *req.Timeout
	}
	lease := time.Duration(seconds) * time.Second
	switch {
	case req.TemplateID == "":
		return 0, refuse(http.StatusBadRequest, `Error when validating request: property "templateID" is missing`)
	case t == nil:
		status := map[version]int{v1: http.StatusNotFound, v2: http.StatusBadRequest}[v]
		return 0, refuse(status, "template '%s' not found", req.TemplateID)
	case seconds <= 0:
		return 0, refuse(http.StatusBadRequest, "Timeout must be greater than 0")
	case lease > s.opts.Longest:
		return 0, refuse(http.StatusBadRequest, "Timeout cannot be greater than %v hours", s.opts.Longest.Hours())
	case req.AutoPause || req.AutoResume != nil && req.AutoResume.Enabled || req.VolumeMounts != nil || req.MCP != nil:
		return 0, refuse(http.StatusBadRequest, "autoPause, autoResume, mcp and volumeMounts are not offered by this server")
	}
	req.TemplateID = TemplateID(t.name)
	return lease, req.Network.check(req.Secure)
}

// check holds what E2B demands of a network: a name is let out only where everything else is denied, and only an address
// can be denied.
func (n *network) check(secure bool) error {
	if n == nil {
		return nil
	}
	for _, deny := range n.DenyOut {
		if !isAddress(deny) {
			return refuse(http.StatusBadRequest, "invalid denied CIDR or IP: %s", deny)
		}
	}
	all := slices.Contains(n.DenyOut, "0.0.0.0/0")
	for _, allow := range n.AllowOut {
		if !isAddress(allow) && !all {
			return refuse(http.StatusBadRequest, "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic.")
		}
	}
	if n.AllowPublicTraffic != nil && !*n.AllowPublicTraffic && !secure {
		return refuse(http.StatusBadRequest, "Public traffic can only be restricted for a secured sandbox")
	}
	return nil
}

func isAddress(text string) bool {
	_, errPrefix := netip.ParsePrefix(text)
	_, errAddr := netip.ParseAddr(text)
	return errPrefix == nil || errAddr == nil
}

// reserve takes a place for one more sandbox. Its refusal has no Retry-After: waiting does not help.
func (s *Server) reserve() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return refuse(http.StatusServiceUnavailable, "the server ends")
	}
	if len(s.sandboxes)+s.making >= s.opts.Most {
		return refuse(http.StatusTooManyRequests, quotaMessage, s.opts.Most)
	}
	s.making++
	return nil
}

const quotaMessage = "you have reached the maximum number of concurrent E2B sandboxes (%d). " +
	"If you need more, please contact us"

// make starts a machine and tells its daemon whose it is. A client that is gone does not stop it, as E2B goes on too.
func (s *Server) make(ctx context.Context, req *createRequest) (*live, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	machine, err := s.opts.Runner.Start(ctx)
	if err != nil {
		return nil, err
	}
	sb := &live{
		id: newID(), template: req.TemplateID, metadata: req.Metadata, secure: req.Secure, network: req.Network,
		internet: req.Internet == nil || *req.Internet, machine: machine,
	}
	if sb.metadata == nil {
		sb.metadata = map[string]string{}
	}
	if sb.secure {
		sb.token = "ea_" + randomHex(40)
		if n := req.Network; n != nil && n.AllowPublicTraffic != nil && !*n.AllowPublicTraffic {
			sb.trafficToken = randomHex(40)
		}
	}
	sb.toDaemon = sb.transport()
	if err := sb.init(ctx, req.EnvVars); err != nil {
		sb.toDaemon.CloseIdleConnections()
		return nil, errors.Join(err, machine.Close())
	}
	return sb, nil
}

// init gives the daemon its token and its environment, before anybody else can reach it.
func (sb *live) init(ctx context.Context, env map[string]string) error {
	body, err := json.Marshal(map[string]any{"accessToken": sb.token, "envVars": env, "defaultUser": "user"})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://daemon/init", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := sb.toDaemon.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("the daemon does not answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("the daemon answered %s", resp.Status)
	}
	return nil
}

// created is the answer to create and to connect.
func (sb *live) created() created {
	c := created{SandboxID: sb.id, TemplateID: sb.template, ClientID: clientID, EnvdVersion: DaemonVersion, EnvdAccessToken: sb.token}
	if sb.trafficToken != "" {
		c.TrafficAccessToken = &sb.trafficToken
	}
	return c
}
