package broker

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/joystream-ai/joy/internal/ledger"
	"github.com/joystream-ai/joy/internal/ledger/verify"
	"github.com/joystream-ai/joy/internal/secret"
)

// house is a broker with a ledger on disk and a clock that stands still.
type house struct {
	*Broker
	ledger  *ledger.Writer
	path    string
	elapsed atomic.Int64
}

var began = time.Date(2026, 3, 3, 18, 3, 0, 0, time.UTC)

func open(t testing.TB, run string) *house {
	t.Helper()
	h := &house{}
	dir := t.TempDir()
	h.path = filepath.Join(dir, ledger.FileName)
	var err error
	h.ledger, err = ledger.Create(dir, run, "sha256:"+strings.Repeat("0", 64), ledger.Options{})
	require.NoError(t, err)
	_, err = h.ledger.Append(ledger.RunStarted, "", ledger.Data{})
	require.NoError(t, err)
	h.Broker = New(Config{
		Workspace: "acme", Agent: "weekly", Run: run, Ledger: h.ledger, Secrets: secret.NewSet(),
		Now: func() time.Time { return began.Add(time.Duration(h.elapsed.Load())) },
	})
	t.Cleanup(func() {
		_ = h.Close()
		require.NoError(t, h.ledger.Close())
	})
	return h
}

func (h *house) issue(t testing.TB, step string) string {
	t.Helper()
	token, err := h.Issue(step, Terms{Limit: time.Minute})
	require.NoError(t, err)
	return token
}

// dial makes a connection at step's door, as the VM does.
func (h *house) dial(t testing.TB, step string) net.Conn {
	t.Helper()
	mine, theirs := net.Pipe()
	go h.Serve(step, theirs)
	t.Cleanup(func() { mine.Close() })
	return mine
}

// ask sends one raw request at step's door and reads the answer.
func (h *house) ask(t testing.TB, step, request string) (status int, body string) {
	t.Helper()
	conn := h.dial(t, step)
	go func() { _, _ = io.WriteString(conn, request) }()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// get asks for the scope with these header lines.
func (h *house) get(t testing.TB, step string, headers ...string) (status int, body string) {
	t.Helper()
	return h.ask(t, step, "GET /v1/run HTTP/1.1\r\nHost: joy\r\n"+strings.Join(append(headers, "\r\n"), "\r\n"))
}

// entries reads what is on record of a type. The chain must hold.
func (h *house) entries(t testing.TB, typ ledger.Type) (list []verify.Entry) {
	t.Helper()
	f, err := os.Open(h.path)
	require.NoError(t, err)
	defer f.Close()
	rep, err := verify.Check(f, verify.Options{Each: func(e verify.Entry) {
		if e.Type == string(typ) {
			list = append(list, e)
		}
	}})
	require.NoError(t, err)
	require.NotEqual(t, verify.Broken, rep.State, rep.Problem)
	return list
}

func (h *house) record(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile(h.path)
	require.NoError(t, err)
	return string(b)
}

func TestScope(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	h.elapsed.Store(int64(time.Minute + Grace - 1)) // the last instant
	status, body := h.get(t, "count", "Authorization: bearer "+token)
	require.Equal(t, http.StatusOK, status)
	var got Scope
	dec := json.NewDecoder(bytes.NewReader([]byte(body)))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&got))
	require.Equal(t, Scope{
		Workspace: "acme", Agent: "weekly", Run: "run-1", Step: "count",
		Issued: "2026-03-03T18:03:00.000Z", Expires: "2026-03-03T18:04:30.000Z",
	}, got)
	require.Empty(t, h.entries(t, ledger.EgressDenied))

	status, body = h.ask(t, "count", "POST /v1/"+token+" HTTP/1.1\r\nHost: joy\r\nAuthorization: Bearer "+token+"\r\n\r\n")
	require.Equal(t, http.StatusNotFound, status)
	require.NotContains(t, body, token, "an answer does not repeat a token")
}

// The record says which token was issued and revoked without holding it.
func TestTokensOnRecord(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	require.NoError(t, h.Revoke("count"))
	require.NoError(t, h.Revoke("count"), "there is nothing left to revoke")
	issued, revoked := h.entries(t, ledger.TokenIssued), h.entries(t, ledger.TokenRevoked)
	require.Len(t, issued, 1)
	require.Len(t, revoked, 1)
	require.Equal(t, "count", issued[0].Step)
	require.Equal(t, issued[0].String("token"), revoked[0].String("token"))
	require.Equal(t, "2026-03-03T18:04:30.000Z", issued[0].String("expires"))
	require.NotContains(t, h.record(t), token)
	clean, hits := h.cfg.Secrets.Redact([]byte(token))
	require.Len(t, hits, 1, "the scrubber knows a token before anybody has it, and still when it is revoked")
	require.Equal(t, "[REDACTED:run-token]", string(clean))
}

func TestIssueFailsWithoutARecord(t *testing.T) {
	h := open(t, "run-1")
	require.NoError(t, h.ledger.Close())
	token, err := h.Issue("count", Terms{Limit: time.Minute})
	require.ErrorIs(t, err, ledger.ErrClosed)
	require.Empty(t, token)
	require.Empty(t, h.tokens, "what is not on record was not minted")
}
