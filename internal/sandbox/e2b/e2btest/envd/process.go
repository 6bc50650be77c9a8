//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	chunk  = 32 << 10         // the most that one event carries, in bytes
	retain = 30 * time.Second // how long a late Connect still learns the end
)

// process is a command and everybody who listens to it. It is tied to no call: it goes on when nobody listens, and what
// it says then is lost.
type process struct {
	info processInfo
	cmd  *exec.Cmd
	pty  *os.File // nil without a terminal

	inMu  sync.Mutex // held while writing: input arrives whole
	stdin *os.File   // nil when closed or never wanted

	mu        sync.Mutex
	listeners map[*listener]bool
	end       *endEvent
}

// listener is one call that streams a process's events. An event waits for it until the call is over: that holds the
// process back, and every other listener with it.
type listener struct {
	events chan processEvent // closed after the end event
	gone   <-chan struct{}
}

// processes is the table of what runs, and of what ended a moment ago.
type processes struct {
	mu    sync.Mutex
	table map[uint32]*process
}

// launch starts cmd with a first listener, so that nothing of its output is missed.
func (ps *processes) launch(cmd *exec.Cmd, info processInfo, wantStdin bool, size *ptySize, gone <-chan struct{}) (*process, *listener, error) {
	p := &process{info: info, cmd: cmd, listeners: map[*listener]bool{}}
	first := p.listen(gone)
	wire := p.pipes
	if size != nil {
		wire = func(bool) ([]source, func(), error) { return p.terminal(*size) }
	}
	sources, started, err := wire(wantStdin)
	if err != nil {
		return nil, nil, err
	}
	err = cmd.Start()
	started()
	if err != nil {
		for _, src := range sources {
			src.r.Close()
		}
		return nil, nil, failf(codeInvalidArgument, "error starting process: %v", err)
	}
	p.info.PID = uint32(cmd.Process.Pid)
	ps.mu.Lock()
	ps.table[p.info.PID] = p
	ps.mu.Unlock()
	go func() {
		p.watch(sources)
		time.AfterFunc(retain, func() { ps.forget(p) })
	}()
	return p, first, nil
}

func (ps *processes) forget(p *process) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.table[p.info.PID] == p {
		delete(ps.table, p.info.PID)
	}
}

// find gives the process that sel names, ended or not. A tag finds it only when it is the first that is looked at: the
// real daemon stops at the first tag that is another.
func (ps *processes) find(sel selector) (*process, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	switch {
	case sel.PID != nil:
		if p := ps.table[*sel.PID]; p != nil {
			return p, nil
		}
		return nil, failf(codeNotFound, "process with pid %d not found", *sel.PID)
	case sel.Tag != nil:
		for _, p := range ps.table {
			if p.info.Tag == nil {
				continue
			}
			if *p.info.Tag == *sel.Tag {
				return p, nil
			}
			break
		}
		return nil, failf(codeNotFound, "process with tag %s not found", *sel.Tag)
	}
	return nil, failf(codeUnimplemented, "invalid input type of a process selector")
}

// source is one stream of output and how its bytes are put into an event.
type source struct {
	r    *os.File
	wrap func([]byte) dataEvent
}

// pipes gives the command a pipe for each stream. The function closes the command's ends, once it has started or failed.
func (p *process) pipes(wantStdin bool) ([]source, func(), error) {
	var theirs, all []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			for _, f := range all {
				f.Close()
			}
			return nil, nil, failf(codeInternal, "error creating a pipe: %v", err)
		}
		all = append(all, r, w)
	}
	theirs = append(theirs, all[1], all[3], all[4])
	p.cmd.Stdout, p.cmd.Stderr = all[1], all[3]
	if wantStdin {
		p.cmd.Stdin, p.stdin = all[4], all[5]
	} else {
		theirs = append(theirs, all[5])
	}
	sources := []source{
		{all[0], func(b []byte) dataEvent { return dataEvent{Stdout: b} }},
		{all[2], func(b []byte) dataEvent { return dataEvent{Stderr: b} }},
	}
	return sources, func() {
		for _, f := range theirs {
			f.Close()
		}
	}, nil
}

// watch streams the output until every holder of a stream has closed it, and only then learns how the command ended.
func (p *process) watch(sources []source) {
	var all sync.WaitGroup
	for _, src := range sources {
		all.Go(func() {
			defer src.r.Close()
			for {
				buf := make([]byte, chunk)
				n, err := src.r.Read(buf)
				if n > 0 {
					data := src.wrap(buf[:n])
					p.tell(processEvent{Data: &data})
				}
				if err != nil { // io.EOF of a pipe, EIO of a terminal
					return
				}
			}
		})
	}
	all.Wait()
	err := p.cmd.Wait()
	end := &endEvent{Status: "unknown"}
	if state := p.cmd.ProcessState; state != nil {
		end.ExitCode, end.Exited, end.Status = int32(state.ExitCode()), state.Exited(), state.String()
	}
	if err != nil {
		said := err.Error()
		end.Error = &said
	}
	p.closeStdin()
	p.mu.Lock()
	p.end = end
	listeners := p.listeners
	p.listeners = nil
	p.mu.Unlock()
	for l := range listeners {
		l.take(processEvent{End: end})
		close(l.events)
	}
}

// listen adds a listener. It learns the end of a process that has ended.
func (p *process) listen(gone <-chan struct{}) *listener {
	l := &listener{events: make(chan processEvent), gone: gone}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		l.events = make(chan processEvent, 1)
		l.events <- processEvent{End: p.end}
		close(l.events)
		return l
	}
	p.listeners[l] = true
	return l
}

func (p *process) leave(l *listener) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.listeners, l)
}

func (p *process) tell(e processEvent) {
	p.mu.Lock()
	listeners := make([]*listener, 0, len(p.listeners))
	for l := range p.listeners {
		listeners = append(listeners, l)
	}
	p.mu.Unlock()
	for _, l := range listeners {
		l.take(e)
	}
}

func (l *listener) take(e processEvent) {
	select {
	case l.events <- e:
	case <-l.gone:
	}
}

// write puts input into the command's standard input or terminal. It waits until the command has read it.
func (p *process) write(in inputMessage) error {
	p.inMu.Lock()
	defer p.inMu.Unlock()
	to, b := p.stdin, in.Stdin
	if in.PTY != nil {
		if to, b = p.pty, in.PTY; to == nil {
			return failf(codeInternal, "error writing to pty: pty not assigned to process")
		}
	}
	if to == nil {
		return failf(codeInternal, "error writing to stdin: stdin not enabled or closed")
	}
	if _, err := to.Write(b); errors.Is(err, os.ErrClosed) {
		return failf(codeInternal, "error writing to stdin: stdin not enabled or closed")
	} else if err != nil {
		return failf(codeInternal, "error writing to stdin: %v", err)
	}
	return nil
}

// closeStdin is the end of the command's input. A write in progress fails.
func (p *process) closeStdin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin != nil {
		_ = p.stdin.Close() // wakes a writer
	}
}

// kill signals the leader and nothing that it started.
func (p *process) kill(sig unix.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("error sending signal: %w", err)
	}
	return nil
}

// limit kills the leader after a time, whether anybody listens or not; 0 is no limit.
func (p *process) limit(after time.Duration) {
	if after > 0 {
		time.AfterFunc(after, func() { _ = p.kill(unix.SIGKILL) })
	}
}

// follow sends the events of l until the end or until ctx is over. Without data for an interval it says that it is alive.
func (p *process) follow(ctx context.Context, l *listener, interval time.Duration, send func(any) error) error {
	defer p.leave(l)
	alive := time.NewTicker(interval)
	defer alive.Stop()
	for {
		var e processEvent
		var ok bool
		select {
		case e, ok = <-l.events:
			if !ok {
				return nil
			}
			alive.Reset(interval)
		case <-alive.C:
			e.Keepalive = &empty{}
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := send(eventMessage{e}); err != nil {
			return err
		}
		if e.End != nil {
			return nil
		}
	}
}
