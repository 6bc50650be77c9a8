package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// What an Error is, for errors.Is.
var (
	ErrKey         = errors.New("the key is missing or refused")
	ErrForbidden   = errors.New("the account may not do that")
	ErrNotFound    = errors.New("there is no such thing")
	ErrLost        = errors.New("the sandbox is gone")
	ErrQuota       = errors.New("the account has as many sandboxes as it may")
	ErrRate        = errors.New("too many requests")
	ErrRefused     = errors.New("the request was refused") // for what it says: repeating it is of no use
	ErrConflict    = errors.New("the sandbox is not in a state for it")
	ErrUnavailable = errors.New("the service does not answer now")
	ErrProtocol    = errors.New("the answer is not of the protocol")
	// ErrUnknown is a request that may have taken effect or not.
	ErrUnknown = errors.New("the outcome is unknown")
	// ErrCut is a stream that ended before its process did, as far as one can know: the process may live.
	ErrCut = errors.New("the stream was cut")
)

// Error is a request that failed.
type Error struct {
	Op         string        // what was tried: creating a sandbox
	Kind       error         // one of the above
	Status     int           // of HTTP; 0 when there was no answer
	Code       string        // what the server calls it; an open set
	Message    string        // the server's words, bounded and printable
	RetryAfter time.Duration // of ErrRate, and then at least a second
	Err        error         // the cause on this side
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op + ": " + e.Kind.Error())
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	switch {
	case e.Status != 0 && e.Code != "":
		fmt.Fprintf(&b, " (%d, %s)", e.Status, e.Code)
	case e.Status != 0:
		fmt.Fprintf(&b, " (%d)", e.Status)
	case e.Code != "":
		fmt.Fprintf(&b, " (%s)", e.Code)
	}
	if e.Err != nil {
		b.WriteString(": " + e.Err.Error())
	}
	return b.String()
}

// Unwrap is the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// maxSaid bounds what of a server's words is kept.
const maxSaid = 300

// said is a server's text as one printable line.
func said(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '?'
	}, strings.ToValidUTF8(text, "?"))
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxSaid {
		text = strings.ToValidUTF8(text[:maxSaid], "") + "…"
	}
	return text
}
