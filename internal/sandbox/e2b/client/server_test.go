package client

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const testKey = "e2b_0123456789abcdef0123456789abcdef01234567"

// serve is a client of a server that answers as the test says, and that never waits between two tries.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := New(Config{Key: testKey, APIURL: server.URL, SandboxURL: server.URL})
	require.NoError(t, err)
	c.wait = func(time.Duration) <-chan time.Time {
		now := make(chan time.Time, 1)
		now <- time.Now()
		return now
	}
	return c
}

// daemon is that of a sandbox on the same server.
func daemon(t *testing.T, handler http.HandlerFunc) *Daemon {
	t.Helper()
	d, err := serve(t, handler).Daemon(Created{ID: "i1", Daemon: "0.6.13", AccessToken: "token"}, "root")
	require.NoError(t, err)
	return d
}

// answer is one answer of a server.
type answer struct {
	status int
	head   map[string]string
	body   string
}

func (a answer) to(w http.ResponseWriter) {
	for k, v := range a.head {
		w.Header().Set(k, v)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// script gives its answers one after the other and counts them; the last one stays.
func script(count *atomic.Int64, answers ...answer) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		a := answers[min(int(count.Add(1)), len(answers))-1]
		if a.status == 0 {
			cut(w)
			return
		}
		a.to(w)
	}
}

// cut ends the connection without an answer.
func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// envelope is one piece of a stream.
func envelope(flags byte, v any) []byte {
	body, _ := json.Marshal(v)
	return append(binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(body))), body...)
}

func event(v map[string]any) []byte { return envelope(0, map[string]any{"event": v}) }

func started(pid int) []byte {
	return event(map[string]any{"start": map[string]any{"pid": pid}})
}

func stdout(s string) []byte {
	return event(map[string]any{"data": map[string]any{"stdout": []byte(s)}})
}

func ended(v map[string]any) []byte { return event(map[string]any{"end": v}) }

var eos = envelope(flagEnd, map[string]any{})

// streams answers with pieces and a clean end.
func streams(pieces ...[]byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/connect+json")
		for _, p := range pieces {
			_, _ = w.Write(p)
			_ = http.NewResponseController(w).Flush()
		}
	}
}
