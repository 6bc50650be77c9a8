//go:build linux

package main

import (
	"encoding/json"
	"fmt"
)

// The messages of process.Process in their JSON form: zero values are left out, bytes are base64.
type (
	processConfig struct {
		Cmd  string            `json:"cmd,omitempty"`
		Args []string          `json:"args,omitempty"`
		Envs map[string]string `json:"envs,omitempty"`
		Cwd  *string           `json:"cwd,omitempty"`
	}
	ptySize struct {
		Cols uint16 `json:"cols,omitempty"`
		Rows uint16 `json:"rows,omitempty"`
	}
	ptyMessage   struct{ Size ptySize }
	startRequest struct {
		Process *processConfig `json:"process"`
		PTY     *ptyMessage    `json:"pty"`
		Tag     *string        `json:"tag"`
		Stdin   *bool          `json:"stdin"`
	}
	selector struct {
		PID *uint32 `json:"pid"`
		Tag *string `json:"tag"`
	}
	selected     struct{ Process selector }
	inputMessage struct{ Stdin, PTY []byte }

	sendInputRequest struct {
		Process selector
		Input   inputMessage
	}
	streamInputRequest struct {
		Start     *selected                     `json:"start"`
		Data      *struct{ Input inputMessage } `json:"data"`
		Keepalive *struct{}                     `json:"keepalive"`
	}
	sendSignalRequest struct {
		Process selector
		Signal  signal
	}
	updateRequest struct {
		Process selector
		PTY     *ptyMessage `json:"pty"`
	}
	empty struct{}

	eventMessage struct {
		Event processEvent `json:"event"`
	}
	processEvent struct {
		Start     *startEvent `json:"start,omitempty"`
		Data      *dataEvent  `json:"data,omitempty"`
		End       *endEvent   `json:"end,omitempty"`
		Keepalive *empty      `json:"keepalive,omitempty"`
	}
	startEvent struct {
		PID uint32 `json:"pid,omitempty"`
	}
	dataEvent struct {
		Stdout []byte `json:"stdout,omitempty"`
		Stderr []byte `json:"stderr,omitempty"`
		PTY    []byte `json:"pty,omitempty"`
	}
	endEvent struct {
		ExitCode int32   `json:"exitCode,omitempty"`
		Exited   bool    `json:"exited,omitempty"`
		Status   string  `json:"status,omitempty"`
		Error    *string `json:"error,omitempty"`
	}
	processInfo struct {
		Config processConfig `json:"config"`
		PID    uint32        `json:"pid,omitempty"`
		Tag    *string       `json:"tag,omitempty"`
	}
	listResponse struct {
		Processes []processInfo `json:"processes,omitempty"`
	}
)

// signal is an enum: its name or its number.
type signal int

var signals = map[string]signal{"SIGNAL_UNSPECIFIED": 0, "SIGNAL_SIGTERM": 15, "SIGNAL_SIGKILL": 9}

func (s *signal) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*int)(s)); err == nil {
		return nil
	}
	var name string
	if err := json.Unmarshal(b, &name); err != nil {
		return err
	}
	number, ok := signals[name]
	if !ok {
		return fmt.Errorf("invalid value for enum field signal: %q", name)
	}
	*s = number
	return nil
}
