package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
)

// Event is what happened to a process: one of its fields is set.
type Event struct {
	// Raw bytes, until the next call of Next; a character may be split between two events.
	Stdout, Stderr []byte
	End            *End
}

// End is how a process ended.
type End struct {
	Code   int    // -1 when a signal ended it
	Exited bool   // false when a signal ended it
	Status string // in words: exit status 0, signal: killed
	Error  string
}

// processEvent is the wire's: bytes are base64, and what is zero is not there.
type processEvent struct {
	Event struct {
		Start *struct {
			PID int `json:"pid"`
		} `json:"start"`
		Data *struct {
			Stdout []byte `json:"stdout"`
			Stderr []byte `json:"stderr"`
			PTY    []byte `json:"pty"`
		} `json:"data"`
		End *struct {
			Code   int    `json:"exitCode"`
			Exited bool   `json:"exited"`
			Status string `json:"status"`
			Error  string `json:"error"`
		} `json:"end"`
	} `json:"event"`
}

// The one shape that most events have. A daemon that writes it with a space more is understood too, and slower.
const (
	dataHead = `{"event":{"data":{"std`
	outHead  = `out":"`
	errHead  = `err":"`
	dataTail = `"}}}`
)

// output reads an event of that shape, and is not ok with any other: package json looks at every byte of it three times,
// which is most of what a stream costs. The bytes lie in buf, which it gives back.
func output(payload, buf []byte) (ev *Event, _ []byte, ok bool) {
	text, head := bytes.CutPrefix(payload, []byte(dataHead))
	text, tail := bytes.CutSuffix(text, []byte(dataTail))
	if !head || !tail {
		return nil, buf, false
	}
	ev = &Event{}
	to := &ev.Stdout
	text, ok = bytes.CutPrefix(text, []byte(outHead))
	if !ok {
		to = &ev.Stderr
		if text, ok = bytes.CutPrefix(text, []byte(errHead)); !ok {
			return nil, buf, false
		}
	}
	if bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0 { // base64 passes over them, JSON does not
		return nil, buf, false
	}
	buf = slices.Grow(buf[:0], base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(buf[:cap(buf)], text)
	if err != nil {
		return nil, buf, false
	}
	*to = buf[:n]
	return ev, buf, true
}

// event reads one event; nil is one that says nothing but that the stream lives.
func (s *Stream) event(payload []byte) (*Event, error) {
	var ev *Event
	var ok bool
	if ev, s.data, ok = output(payload, s.data); ok && !s.ended {
		return ev, nil
	}
	var p processEvent
	if err := json.Unmarshal(payload, &p); err != nil {
		return nil, &Error{Op: s.op, Kind: ErrProtocol, Err: err}
	}
	switch e := p.Event; {
	case s.ended:
		return nil, &Error{Op: s.op, Kind: ErrProtocol, Message: "an event after the end"}
	case e.Start != nil:
		s.pid = e.Start.PID
	case e.Data != nil:
		return &Event{Stdout: append(e.Data.Stdout, e.Data.PTY...), Stderr: e.Data.Stderr}, nil
	case e.End != nil:
		s.ended = true
		return &Event{End: &End{e.End.Code, e.End.Exited, said(e.End.Status), said(e.End.Error)}}, nil
	}
	return nil, nil
}
