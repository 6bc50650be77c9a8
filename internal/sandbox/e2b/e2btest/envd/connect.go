//go:build linux

package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxMessage caps one message of a client, in bytes.
const maxMessage = 64 << 20

// Flags of an envelope, https://connectrpc.com/docs/protocol#streaming-rpcs.
const (
	flagCompressed = 1
	flagEnd        = 2
)

// A code is a Connect error code by its name on the wire.
type code string

const (
	codeCanceled         code = "canceled"
	codeUnknown          code = "unknown"
	codeInvalidArgument  code = "invalid_argument"
	codeDeadlineExceeded code = "deadline_exceeded"
	codeNotFound         code = "not_found"
	codeAlreadyExists    code = "already_exists"
	codePermissionDenied code = "permission_denied"
	codeUnimplemented    code = "unimplemented"
	codeInternal         code = "internal"
	codeUnauthenticated  code = "unauthenticated"
)

// status is the HTTP status of a unary error, https://connectrpc.com/docs/protocol#error-codes.
var status = map[code]int{
	codeCanceled: 499, codeUnknown: 500, codeInvalidArgument: 400, codeDeadlineExceeded: 504, codeNotFound: 404,
	codeAlreadyExists: 409, codePermissionDenied: 403, codeUnimplemented: 501, codeInternal: 500, codeUnauthenticated: 401,
}

// rpcError is an error as a client sees it.
type rpcError struct {
	Code    code   `json:"code"`
	Message string `json:"message,omitempty"`
}

func (e *rpcError) Error() string { return string(e.Code) + ": " + e.Message }

func failf(c code, format string, args ...any) error {
	return &rpcError{c, fmt.Sprintf(format, args...)}
}

// asRPC gives every error a code: those of a context have theirs, others are unknown.
func asRPC(err error) *rpcError {
	var e *rpcError
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &rpcError{codeDeadlineExceeded, err.Error()}
	case errors.Is(err, context.Canceled):
		return &rpcError{codeCanceled, err.Error()}
	}
	return &rpcError{codeUnknown, err.Error()}
}

// unary serves a method with one request and one response.
func unary[Req, Resp any](do func(r *http.Request, req *Req) (*Resp, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !acceptable(w, r, "application/json") {
			return
		}
		req, err := readUnary[Req](r)
		if err == nil {
			ctx, cancel, limitErr := limited(r)
			if err = limitErr; err == nil {
				defer cancel()
				var resp *Resp
				if resp, err = do(r.WithContext(ctx), req); err == nil {
					writeJSON(w, http.StatusOK, resp)
					return
				}
			}
		}
		e := asRPC(err)
		writeJSON(w, status[e.Code], e)
	}
}

func readUnary[Req any](r *http.Request) (*Req, error) {
	body := io.Reader(r.Body)
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, failf(codeInvalidArgument, "decompress: %v", err)
		}
		body = z
	default:
		return nil, failf(codeUnimplemented, "unknown compression %q: supported encodings are gzip", encoding)
	}
	b, err := io.ReadAll(io.LimitReader(body, maxMessage+1))
	if err != nil || len(b) > maxMessage {
		return nil, failf(codeInvalidArgument, "reading the message: %v", err)
	}
	return decode[Req](b)
}

func decode[Req any](b []byte) (*Req, error) {
	req := new(Req)
	if err := json.Unmarshal(b, req); err != nil {
		return nil, failf(codeInvalidArgument, "unmarshal message: %v", err)
	}
	return req, nil
}

// acceptable refuses what is not a call in the JSON form. The binary form is a real daemon's too, but not this one's.
func acceptable(w http.ResponseWriter, r *http.Request, want string) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch version := r.Header.Get("Connect-Protocol-Version"); {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
	case kind != want:
		w.Header().Set("Accept-Post", want)
		w.WriteHeader(http.StatusUnsupportedMediaType)
	case version != "" && version != "1":
		writeJSON(w, http.StatusBadRequest, &rpcError{codeInvalidArgument, fmt.Sprintf("connect-protocol-version must be \"1\": got %q", version)})
	default:
		return true
	}
	return false
}

// limited is the request's context with the client's own limit.
func limited(r *http.Request) (context.Context, context.CancelFunc, error) {
	limit, err := timeoutOf(r)
	if err != nil || limit == 0 {
		return r.Context(), func() {}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	return ctx, cancel, nil
}

// timeoutOf is Connect-Timeout-Ms: at most ten digits; absent or 0 is no limit.
func timeoutOf(r *http.Request) (time.Duration, error) {
	text := r.Header.Get("Connect-Timeout-Ms")
	if text == "" {
		return 0, nil
	}
	ms, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > 10 {
		return 0, failf(codeInvalidArgument, "protocol error: invalid timeout %q", text)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

// plainError answers outside Connect: {"code","message"}.
func plainError(w http.ResponseWriter, status int, format string, args ...any) {
	writeJSON(w, status, map[string]any{"code": status, "message": strings.TrimSpace(fmt.Sprintf(format, args...))})
}
