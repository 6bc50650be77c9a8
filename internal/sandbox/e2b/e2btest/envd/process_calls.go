//go:build linux

package main

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// defaultPing is how often a silent stream says that it is alive.
const defaultPing = 90 * time.Second

// pingOf is Keepalive-Ping-Interval in seconds. What is no number is the default. The real daemon makes a ticker of the
// number as it is, and dies of one that is not positive: no joy may ever send that.
func pingOf(r *http.Request) time.Duration {
	seconds, err := strconv.Atoi(r.Header.Get("Keepalive-Ping-Interval"))
	if err != nil {
		return defaultPing
	}
	if seconds <= 0 {
		die("non-positive interval for NewTicker")
	}
	return time.Duration(seconds) * time.Second
}

func (s *server) start(r *http.Request, req *startRequest, send func(any) error) error {
	u, err := s.userOf(r)
	if err != nil {
		return err
	}
	if req.Process == nil {
		req.Process = &processConfig{}
	}
	cmd, err := s.command(u, *req.Process)
	if err != nil {
		return err
	}
	limit, err := timeoutOf(r)
	if err != nil {
		return err
	}
	ping := pingOf(r)
	var size *ptySize
	if req.PTY != nil {
		size = &req.PTY.Size
	}
	wantStdin := req.Stdin == nil || *req.Stdin
	gone, info := r.Context().Done(), processInfo{Config: *req.Process, Tag: req.Tag}
	p, l, err := s.processes.launch(cmd, info, wantStdin, size, gone)
	if err != nil {
		return err
	}
	p.limit(limit)
	if err := send(eventMessage{processEvent{Start: &startEvent{p.info.PID}}}); err != nil {
		p.leave(l)
		return err
	}
	return p.follow(r.Context(), l, ping, send)
}

// command is what a client asked for, as its user. It goes through a shell, so a program that is missing is exit status
// 127 and a line on standard error, not an error of the call.
func (s *server) command(u *user, c processConfig) (*exec.Cmd, error) {
	set := s.settings()
	dir := u.home
	if set.DefaultWorkdir != "" {
		dir = set.DefaultWorkdir
	}
	if c.Cwd != nil && *c.Cwd != "" {
		dir = u.resolve(*c.Cwd)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, failf(codeInvalidArgument, "cwd '%s' does not exist", dir)
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$@"`, "sh", c.Cmd}, c.Args...)...) //nolint:noctx // it outlives the call
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.uid, Gid: u.gid, Groups: u.groups}}
	env := map[string]string{
		"PATH": searchPath, "HOME": u.home, "USER": u.name, "LOGNAME": u.name, "E2B_SANDBOX": "true",
	}
	for _, more := range []map[string]string{set.EnvVars, c.Envs} {
		for k, v := range more {
			env[k] = v
		}
	}
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	sort.Strings(cmd.Env)
	return cmd, nil
}

func (s *server) connect(r *http.Request, req *selected, send func(any) error) error {
	p, err := s.processes.find(req.Process)
	if err != nil {
		return err
	}
	ping := pingOf(r)
	l := p.listen(r.Context().Done())
	if err := send(eventMessage{processEvent{Start: &startEvent{p.info.PID}}}); err != nil {
		p.leave(l)
		return err
	}
	return p.follow(r.Context(), l, ping, send)
}

// list names what still runs.
func (s *server) list(_ *http.Request, _ *empty) (*listResponse, error) {
	s.processes.mu.Lock()
	defer s.processes.mu.Unlock()
	resp := &listResponse{}
	for _, p := range s.processes.table {
		p.mu.Lock()
		if p.end == nil {
			resp.Processes = append(resp.Processes, p.info)
		}
		p.mu.Unlock()
	}
	return resp, nil
}

func (s *server) sendInput(_ *http.Request, req *sendInputRequest) (*empty, error) {
	p, err := s.processes.find(req.Process)
	if err != nil {
		return nil, err
	}
	return &empty{}, p.write(req.Input)
}

// streamInput takes the process from the first message and input from the others.
func (s *server) streamInput(_ *http.Request, next func() (*streamInputRequest, error)) (*empty, error) {
	var p *process
	for {
		req, err := next()
		if errors.Is(err, io.EOF) {
			return &empty{}, nil
		}
		if err != nil {
			return nil, err
		}
		switch {
		case req.Start != nil:
			if p, err = s.processes.find(req.Start.Process); err != nil {
				return nil, err
			}
		case req.Data != nil && p != nil:
			if err := p.write(req.Data.Input); err != nil {
				return nil, err
			}
		case req.Keepalive == nil:
			return nil, failf(codeUnimplemented, "invalid event type of an input stream")
		}
	}
}

func (s *server) sendSignal(_ *http.Request, req *sendSignalRequest) (*empty, error) {
	p, err := s.processes.find(req.Process)
	if err != nil {
		return nil, err
	}
	if req.Signal != 15 && req.Signal != 9 {
		return nil, failf(codeUnimplemented, "invalid signal: %d", req.Signal)
	}
	return &empty{}, p.kill(unix.Signal(req.Signal))
}

func (s *server) closeStdin(_ *http.Request, req *selected) (*empty, error) {
	p, err := s.processes.find(req.Process)
	if err != nil {
		return nil, err
	}
	if p.pty != nil {
		return nil, failf(codeInternal, "error closing stdin: cannot close stdin for PTY process - send Ctrl+D (0x04) instead")
	}
	p.closeStdin()
	return &empty{}, nil
}

func (s *server) update(_ *http.Request, req *updateRequest) (*empty, error) {
	p, err := s.processes.find(req.Process)
	if err != nil {
		return nil, err
	}
	if req.PTY == nil {
		return &empty{}, nil
	}
	if p.pty == nil {
		return nil, failf(codeInternal, "error resizing tty: tty not assigned to process")
	}
	return &empty{}, resize(p.pty, req.PTY.Size)
}

// pathOf is whom a call is for and the absolute form of its path; no path is the home.
func (s *server) pathOf(r *http.Request, path string) (*user, string, error) {
	u, err := s.userOf(r)
	if err != nil {
		return nil, "", err
	}
	if path == "" {
		return u, filepath.Clean(u.home), nil
	}
	return u, u.resolve(path), nil
}
