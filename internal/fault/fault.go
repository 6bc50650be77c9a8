// Package fault is a failure a person can act on: what happened, where, and what to do next.
//
// The one rule: a message names the thing and the place; the hint is a command or a line to write, never a shrug.
// Packages below the command line return *Error where they know a place or a remedy, and plain errors elsewhere.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says whose failure it is. The command line turns it into an exit code; a run's failure_kind is one of the
// first five.
type Kind string

// The kinds.
const (
	Agent      Kind = "agent"      // the step's own code or answer
	Input      Kind = "input"      // usage, joy.yaml, a bundle, a lock, a run's input
	Connection Kind = "connection" // a credential or a connector
	Policy     Kind = "policy"     // denied
	Platform   Kind = "platform"   // the VM, its provider, the network, joy itself

	Drift   Kind = "drift"   // bytes differ from their pin, or the lock is missing or stale
	Consent Kind = "consent" // a credential, trust or approval is needed first
	Ledger  Kind = "ledger"  // a ledger is broken or incomplete
	Timeout Kind = "timeout" // a time limit ended it
)

// Error is one failure. Only Kind and Msg are required.
type Error struct {
	Kind Kind
	Code string // stable id such as JOY-YAML; empty when there is none
	Msg  string // lower case, without the place and without a full stop
	File string // as the user wrote it or relative to the project, forward slashes
	Line int    // 1-based; 0 when unknown
	Col  int    // 1-based, in runes; 0 when unknown
	Hint string // a command to run or a line to write
	Err  error  // the cause, when a caller may test it
}

// New makes an Error with a formatted message.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// Wrap makes an Error whose cause is err; the cause's text follows the message.
func Wrap(kind Kind, err error, format string, args ...any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...), Err: err}
}

// At sets the place and returns e.
func (e *Error) At(file string, line, col int) *Error {
	e.File, e.Line, e.Col = file, line, col
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// Place is file:line:col with the unknown parts left out.
func (e *Error) Place() string {
	if e.File == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Col > 0 {
			fmt.Fprintf(&b, ":%d", e.Col)
		}
	}
	return b.String()
}

func (e *Error) Error() string {
	s := e.Msg
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if p := e.Place(); p != "" {
		s = p + ": " + s
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the first Error in err's tree, or Platform: what nobody classified is joy's own failure.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Platform
}

// All lists the Errors joined in err, in order. An error that carries none is wrapped as Platform.
func All(err error) []*Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // the tree is walked by hand to keep every branch
		return []*Error{e}
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Error
		for _, sub := range many.Unwrap() {
			out = append(out, All(sub)...)
		}
		return out
	}
	var e *Error
	if errors.As(err, &e) {
		return []*Error{e}
	}
	return []*Error{{Kind: Platform, Msg: err.Error()}}
}
