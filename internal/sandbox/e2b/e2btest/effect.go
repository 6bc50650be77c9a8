package e2btest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"time"
)

// Answer gives an error as E2B's control plane words it, or its proxy, instead of what was asked for.
func Answer(status int, message string) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		hearOut(r)
		writeJSON(w, status, apiError{Code: status, Message: message})
	}
}

// AnswerPage gives an error as a gateway words it: a page of HTML.
func AnswerPage(status int) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		hearOut(r)
		writePage(w, status, http.StatusText(status))
	}
}

// TooFast is the 429 that says when to come again.
func TooFast(after time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		hearOut(r)
		limitHeaders(w.Header(), 1, after)
		writeJSON(w, http.StatusTooManyRequests, apiError{Code: http.StatusTooManyRequests, Message: "Rate limit exceeded"})
	}
}

// TooMany is the 429 that no waiting helps against.
func TooMany(most int) Effect {
	return Answer(http.StatusTooManyRequests, fmt.Sprintf(quotaMessage, most))
}

// hearOut reads a request to its end. A server that answers before and closes may have its answer lost: the client then
// fails to write, or reads, whichever comes first.
func hearOut(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

// Delay keeps the request for a time before the server sees it. One without a body is dropped when its client goes.
func Delay(d time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		select {
		case <-time.After(d):
			next.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// abort closes the connection of the request that is being served.
func abort() { panic(http.ErrAbortHandler) } //nolint:forbidigo // it is how net/http is told to

// Cut closes the connection; the server has not seen the request.
func Cut() Effect {
	return func(http.ResponseWriter, *http.Request, http.Handler) { abort() }
}

// CutAnswer does what was asked for and closes the connection in place of an answer: a create that nobody learns of.
func CutAnswer() Effect {
	return func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		abort()
	}
}

// IgnoreFilter lists every sandbox, whatever was asked for.
func IgnoreFilter() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		q.Del("metadata")
		r = r.Clone(r.Context())
		r.URL.RawQuery = q.Encode()
		next.ServeHTTP(w, r)
	}
}

// RepeatToken answers each page of a list with the first page and always the same next token.
func RepeatToken() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		q := r.URL.Query()
		q.Del("nextToken")
		r = r.Clone(r.Context())
		r.URL.RawQuery = q.Encode()
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("X-Next-Token", base64.URLEncoding.EncodeToString([]byte("2026-01-01T00:00:00Z__iagain")))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// CutStream passes on so many messages of a stream and then cuts the connection, without the end that a stream has.
func CutStream(after int) Effect {
	return onMessages(func(http.ResponseWriter) func(byte, []byte) bool {
		seen := 0
		return func(byte, []byte) bool {
			if seen++; seen > after {
				abort()
			}
			return true
		}
	})
}

// EndStream passes on so many messages of a stream and then ends it as one ends well, while the command goes on.
func EndStream(after int) Effect {
	return onMessages(func(w http.ResponseWriter) func(byte, []byte) bool {
		seen := 0
		return func(byte, []byte) bool {
			if seen++; seen == after+1 {
				_ = writeMessage(w, endOfStream, []byte("{}")) // whoever is gone need not be told
			}
			return seen <= after
		}
	})
}

// CutBeforeEnd passes on everything of a command but its end event, and then cuts the connection.
func CutBeforeEnd() Effect {
	return onMessages(func(http.ResponseWriter) func(byte, []byte) bool {
		return func(_ byte, message []byte) bool {
			if bytes.HasPrefix(message, []byte(`{"event":{"end":`)) {
				abort()
			}
			return true
		}
	})
}

// NoEnd keeps back a command's end event; the stream itself ends well.
func NoEnd() Effect {
	return onMessages(func(http.ResponseWriter) func(byte, []byte) bool {
		return func(_ byte, message []byte) bool { return !bytes.HasPrefix(message, []byte(`{"event":{"end":`)) }
	})
}

// Flood sends so many bytes of standard output that a command never wrote, as soon as it has started.
func Flood(size int64) Effect {
	return onMessages(func(w http.ResponseWriter) func(byte, []byte) bool {
		out := `{"event":{"data":{"stdout":"` + base64.StdEncoding.EncodeToString(make([]byte, 32<<10)) + `"}}}`
		return func(_ byte, message []byte) bool {
			if !bytes.HasPrefix(message, []byte(`{"event":{"start":`)) {
				return true
			}
			err := writeMessage(w, 0, message)
			for sent := int64(0); sent < size && err == nil; sent += 32 << 10 {
				err = writeMessage(w, 0, []byte(out))
			}
			if err != nil {
				abort()
			}
			return false
		}
	})
}

// endOfStream is the flag of the last message (https://connectrpc.com/docs/protocol).
const endOfStream = 2

// onMessages looks at each message of a stream before it is passed on; false keeps it back.
func onMessages(judge func(w http.ResponseWriter) func(flag byte, message []byte) bool) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(&messageWriter{ResponseWriter: w, pass: judge(w)}, r)
	}
}

// messageWriter takes a stream of envelopes apart.
type messageWriter struct {
	http.ResponseWriter
	pass func(flag byte, message []byte) bool
	held []byte
}

// Unwrap lets a ResponseController reach what flushes.
func (w *messageWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *messageWriter) Write(b []byte) (int, error) {
	w.held = append(w.held, b...)
	for len(w.held) >= 5 {
		size := 5 + int(binary.BigEndian.Uint32(w.held[1:]))
		if len(w.held) < size {
			break
		}
		flag, message := w.held[0], w.held[5:size]
		if w.pass(flag, message) {
			if err := writeMessage(w.ResponseWriter, flag, message); err != nil {
				return 0, err
			}
		}
		w.held = w.held[size:]
	}
	return len(b), nil
}

func writeMessage(w http.ResponseWriter, flag byte, message []byte) error {
	head := binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))
	if _, err := w.Write(append(head, message...)); err != nil {
		return err
	}
	return http.NewResponseController(w).Flush()
}
