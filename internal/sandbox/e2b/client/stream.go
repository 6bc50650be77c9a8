package client

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A stream of Connect is envelopes: a byte of flags, a length of four bytes, big endian, and a payload
// (https://connectrpc.com/docs/protocol).
const (
	envelopeHead = 5
	flagPacked   = 1 // compressed: never asked for
	flagEnd      = 2 // the payload is {} or {"error": …}; nothing follows
	maxEnvelope  = 1 << 20
)

// Stream is the output of one process. It is for one reader; Close may come from anywhere and must be called. The process
// goes on without it.
type Stream struct {
	op    string
	pid   int
	body  io.ReadCloser
	stop  func()
	alive *time.Timer
	limit time.Duration
	cut   context.Context // its cause says why the stream was ended on this side
	ended bool
	buf   []byte // of an envelope
	data  []byte // of an event
	early *Event // read while the pid was looked for
}

// PID is the process's number in the sandbox.
func (s *Stream) PID() int { return s.pid }

// Close lets go of the stream.
func (s *Stream) Close() error {
	s.alive.Stop()
	s.stop()
	return s.body.Close()
}

// stream begins one and reads until it knows the process.
func (d *Daemon) stream(ctx context.Context, op, procedure string, in any) (*Stream, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	envelope := make([]byte, envelopeHead, envelopeHead+len(body))
	binary.BigEndian.PutUint32(envelope[1:], uint32(len(body)))
	head := map[string]string{
		"Content-Type": "application/connect+json", "Connect-Protocol-Version": "1",
		"Keepalive-Ping-Interval": strconv.Itoa(int(pingEvery / time.Second)),
	}
	ctx, cancel := context.WithCancelCause(ctx)
	resp, stop, err := d.send(ctx, op, http.MethodPost, procedure, nil, head, strings.NewReader(string(envelope)+string(body))) //nolint:bodyclose // Close does
	if err != nil {
		cancel(nil)
		return nil, err
	}
	s := &Stream{op: op, body: resp.Body, limit: d.silence, cut: ctx, stop: func() { cancel(nil); stop() }}
	s.alive = time.AfterFunc(d.silence, func() { cancel(fmt.Errorf("nothing was heard for %s", d.silence)) })
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/connect+json") {
		defer s.Close()
		data, _ := io.ReadAll(io.LimitReader(resp.Body, maxEnvelope))
		if resp.StatusCode == http.StatusOK {
			return nil, &Error{Op: op, Kind: ErrProtocol, Message: "the answer is no stream"}
		}
		return nil, daemonError(op, resp, data)
	}
	late := time.AfterFunc(d.silence, func() { cancel(fmt.Errorf("no process within %s", d.silence)) })
	defer late.Stop()
	for s.pid == 0 && s.early == nil {
		ev, err := s.read()
		if err != nil {
			s.Close()
			return nil, err
		}
		s.early = ev
	}
	return s, nil
}

// Next waits for the next event. After the event of the end it is io.EOF. Whatever else ends a stream is an error: ErrCut
// when the process may live and its output may be missing.
func (s *Stream) Next() (Event, error) {
	if s.early != nil {
		ev := *s.early
		s.early = nil
		return ev, nil
	}
	for {
		ev, err := s.read()
		if err != nil {
			return Event{}, err
		}
		if ev != nil {
			return *ev, nil
		}
	}
}

// read takes one envelope; nil is one that says nothing but that the stream lives.
func (s *Stream) read() (*Event, error) {
	flags, payload, err := s.envelope()
	if err != nil {
		return nil, err
	}
	if flags == flagEnd {
		return nil, s.over(payload)
	}
	return s.event(payload)
}

// over is what the last envelope means. Without an end of the process it is a cut, however well it looks.
func (s *Stream) over(payload []byte) error {
	var last struct {
		Error *connectError `json:"error"`
	}
	if err := json.Unmarshal(payload, &last); err != nil {
		return &Error{Op: s.op, Kind: ErrProtocol, Err: err}
	}
	switch {
	case s.ended:
		return io.EOF
	case last.Error == nil:
		return &Error{Op: s.op, Kind: ErrCut, Message: "it ended without the end of the process"}
	case s.pid == 0: // refused before anything began
		return last.Error.error(s.op, 0)
	}
	return &Error{Op: s.op, Kind: ErrCut, Code: said(last.Error.Code), Message: said(last.Error.Message)}
}

func (s *Stream) envelope() (byte, []byte, error) {
	var head [envelopeHead]byte
	if _, err := io.ReadFull(s.body, head[:]); err != nil {
		return 0, nil, s.broken(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if head[0] != 0 && head[0] != flagEnd || n > maxEnvelope {
		return 0, nil, &Error{Op: s.op, Kind: ErrProtocol, Message: fmt.Sprintf("an envelope of kind %d with %d bytes", head[0], n)}
	}
	if cap(s.buf) < int(n) {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	if _, err := io.ReadFull(s.body, s.buf); err != nil {
		return 0, nil, s.broken(err)
	}
	s.alive.Reset(s.limit)
	return head[0], s.buf, nil
}

func (s *Stream) broken(err error) error {
	if s.ended {
		return io.EOF // what had to be known is known
	}
	if cause := context.Cause(s.cut); cause != nil {
		err = cause
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &Error{Op: s.op, Kind: ErrCut, Err: err}
}
