//go:build linux

package e2btest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// talker speaks to a server byte by byte: no client stands between a test and the wire.
type talker struct {
	*Server
	t *testing.T
}

func talk(t *testing.T, opts Options) *talker {
	t.Helper()
	if testing.Short() {
		t.Skip("needs the tiny image")
	}
	return &talker{Start(t, opts), t}
}

// answered is a whole answer.
type answered struct {
	status int
	head   http.Header
	body   string
}

func (a answered) message() string {
	var e struct{ Message string }
	_ = json.Unmarshal([]byte(a.body), &e)
	return e.Message
}

func (k *talker) do(method, path string, head map[string]string, body string) (answered, error) {
	req, err := http.NewRequestWithContext(k.t.Context(), method, k.URL+path, strings.NewReader(body))
	require.NoError(k.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept-Encoding", "identity")
	for name, value := range head {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, resp.Header, string(b)}, err
}

// api asks the control plane.
func (k *talker) api(method, path, body string) answered {
	k.t.Helper()
	a, err := k.do(method, path, map[string]string{"X-API-Key": k.Key}, body)
	require.NoError(k.t, err)
	return a
}

// box is a sandbox that a test made.
type box struct {
	*talker
	ID    string `json:"sandboxID"`
	Token string `json:"envdAccessToken"`
}

func (k *talker) create(body string) *box {
	k.t.Helper()
	a := k.api("POST", "/v2/sandboxes", body)
	require.Equal(k.t, http.StatusCreated, a.status, a.body)
	b := &box{talker: k}
	require.NoError(k.t, json.Unmarshal([]byte(a.body), b))
	return b
}

// plain asks for a sandbox that lives longer than any test.
const plain = `{"templateID":"base","timeout":3600}`

func (b *box) head(more map[string]string) map[string]string {
	head := map[string]string{headerID: b.ID, headerPort: "49983", "X-Access-Token": b.Token}
	for k, v := range more {
		head[k] = v
	}
	return head
}

// call makes a unary call of the daemon.
func (b *box) call(method, body string) answered {
	b.t.Helper()
	a, err := b.do("POST", "/"+method, b.head(nil), body)
	require.NoError(b.t, err)
	return a
}

// heard is what a stream said.
type heard struct {
	pid            uint32
	stdout, stderr string
	end            string // the end event's JSON
	failed         string // the code in the last envelope
	pings          int
	closed         bool // the stream ended with its last envelope
}

// listen is a stream in progress: one envelope at a time.
type listen struct {
	t    *testing.T
	body io.ReadCloser
	heard
}

func (b *box) open(method, body string, head map[string]string) *listen {
	b.t.Helper()
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body))), body...)
	req, err := http.NewRequestWithContext(b.t.Context(), "POST", b.URL+"/"+method, bytes.NewReader(frame))
	require.NoError(b.t, err)
	for name, value := range b.head(head) {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/connect+json")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	require.Equal(b.t, http.StatusOK, resp.StatusCode)
	b.t.Cleanup(func() { resp.Body.Close() })
	return &listen{t: b.t, body: resp.Body}
}

// next takes one envelope in; false when there is none.
func (l *listen) next() bool {
	var head [5]byte
	if _, err := io.ReadFull(l.body, head[:]); err != nil {
		return false
	}
	message := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(l.body, message); err != nil {
		return false
	}
	if head[0]&2 != 0 {
		var last struct{ Error struct{ Code string } }
		require.NoError(l.t, json.Unmarshal(message, &last))
		l.closed, l.failed = true, last.Error.Code
		return true
	}
	var m struct {
		Event struct {
			Start     *struct{ PID uint32 }
			Data      struct{ Stdout, Stderr []byte }
			End       json.RawMessage
			Keepalive json.RawMessage
		}
	}
	require.NoError(l.t, json.Unmarshal(message, &m), "%s", message)
	if m.Event.Start != nil {
		l.pid = m.Event.Start.PID
	}
	l.stdout += string(m.Event.Data.Stdout)
	l.stderr += string(m.Event.Data.Stderr)
	l.end += string(m.Event.End)
	if m.Event.Keepalive != nil {
		l.pings++
	}
	return true
}

// until listens until it has heard enough.
func (l *listen) until(enough func(heard) bool) heard {
	l.t.Helper()
	for !enough(l.heard) {
		require.True(l.t, l.next(), "the stream ended: %+v", l.heard)
	}
	return l.heard
}

// rest listens to the end.
func (l *listen) rest() heard {
	for l.next() {
	}
	return l.heard
}

// run runs a shell's script to its end.
func (b *box) run(script string, head map[string]string) heard {
	b.t.Helper()
	return b.open("process.Process/Start", shell(script), head).rest()
}

// begin runs a script until it has said "up".
func (b *box) begin(script string) *listen {
	b.t.Helper()
	l := b.open("process.Process/Start", shell(script), nil)
	l.until(func(h heard) bool { return strings.Contains(h.stdout, "up\n") })
	return l
}

func shell(script string) string {
	b, _ := json.Marshal(script)
	return `{"process":{"cmd":"/bin/bash","args":["-c",` + string(b) + `]}}`
}

func asUser(name string) map[string]string {
	return map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"))}
}

// soon bounds what takes milliseconds on an idle machine.
const soon = time.Minute

// eventually waits for something that happens by itself.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	require.Eventually(t, holds, soon, 20*time.Millisecond)
}

func is(t *testing.T, want int, a answered) {
	t.Helper()
	require.Equal(t, want, a.status, a.body)
}
