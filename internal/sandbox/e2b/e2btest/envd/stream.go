//go:build linux

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// serverStream serves a method with one request and many responses. The request is read to its end before the first byte
// of an answer: HTTP/1 does not promise both at once. send fails when the client is gone.
func serverStream[Req any](do func(r *http.Request, req *Req, send func(any) error) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !acceptable(w, r, "application/connect+json") {
			return
		}
		in := &envelopes{body: r.Body, compression: r.Header.Get("Connect-Content-Encoding")}
		var req *Req
		b, err := in.next()
		if errors.Is(err, io.EOF) {
			err = failf(codeUnimplemented, "unary request has zero messages")
		}
		if err == nil {
			req, err = decode[Req](b)
		}
		if err == nil {
			if _, more := in.next(); more == nil {
				err = failf(codeUnimplemented, "unary request has multiple messages")
			}
		}
		out := startStream(w)
		ctx, cancel, limitErr := limited(r)
		if err = errors.Join(err, limitErr); err == nil {
			defer cancel()
			err = do(r.WithContext(ctx), req, func(v any) error { return out.send(0, v) })
		}
		out.end(err)
	}
}

// clientStream serves a method with many requests and one response.
func clientStream[Req, Resp any](do func(r *http.Request, next func() (*Req, error)) (*Resp, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !acceptable(w, r, "application/connect+json") {
			return
		}
		in := &envelopes{body: r.Body, compression: r.Header.Get("Connect-Content-Encoding")}
		resp, err := do(r, func() (*Req, error) {
			b, err := in.next()
			if err != nil {
				return nil, err
			}
			return decode[Req](b)
		})
		out := startStream(w)
		if err == nil {
			err = out.send(0, resp)
		}
		out.end(err)
	}
}

// envelopes reads the messages of a streaming request.
type envelopes struct {
	body        io.Reader
	compression string
}

func (e *envelopes) next() ([]byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(e.body, head[:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, failf(codeInvalidArgument, "protocol error: incomplete envelope: %v", err)
	}
	size := binary.BigEndian.Uint32(head[1:])
	if size > maxMessage {
		return nil, failf(codeInvalidArgument, "message size %d is larger than %d", size, maxMessage)
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(e.body, b); err != nil {
		return nil, failf(codeInvalidArgument, "protocol error: promised %d bytes in enveloped message: %v", size, err)
	}
	switch {
	case head[0] == 0:
		return b, nil
	case head[0] == flagCompressed && e.compression == "gzip":
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, failf(codeInvalidArgument, "decompress: %v", err)
		}
		return io.ReadAll(io.LimitReader(z, maxMessage))
	}
	return nil, failf(codeInvalidArgument, "protocol error: invalid envelope flags %08b", head[0])
}

// stream writes the messages of a streaming response.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func startStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "application/connect+json")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, control: http.NewResponseController(w)}
}

func (s *stream) send(flag byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	frame := binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(b)))
	if _, err := s.w.Write(append(frame, b...)); err != nil {
		return err
	}
	return s.control.Flush()
}

// end sends the last envelope: nothing, or the error, whose HTTP status is 200 all the same.
func (s *stream) end(err error) {
	var last struct {
		Error *rpcError `json:"error,omitempty"`
	}
	if err != nil {
		last.Error = asRPC(err)
	}
	_ = s.send(flagEnd, last) // a client that is gone misses nothing
}
