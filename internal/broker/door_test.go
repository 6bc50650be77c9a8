package broker

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func request(token string) string {
	return "GET /v1/run HTTP/1.1\r\nHost: joy\r\nAuthorization: Bearer " + token + "\r\n\r\n"
}

// loopback makes a real connection at step's door.
func (h *house) loopback(t testing.TB, step string) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	theirs, err := l.Accept()
	require.NoError(t, err)
	h.Serve(step, theirs)
	t.Cleanup(func() { conn.Close() })
	return conn
}

func requireClosed(t testing.TB, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second)) // a closed pipe takes none
	_, err := io.Copy(io.Discard, conn)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is still open")
}

func TestRevokeCutsOpenConnections(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	other := h.issue(t, "render")
	for name, dial := range map[string]func(testing.TB, string) net.Conn{"pipe": h.dial, "loopback": h.loopback} {
		idle, half, stays := dial(t, "count"), dial(t, "count"), dial(t, "render")
		go func() { _, _ = io.WriteString(idle, request(token)) }()
		res, err := http.ReadResponse(bufio.NewReader(idle), nil)
		require.NoError(t, err, name)
		require.Equal(t, http.StatusOK, res.StatusCode, name)
		_, err = io.WriteString(half, "GET /v1/run HTTP/1.1\r\n")
		require.NoError(t, err, name)

		require.NoError(t, h.Revoke("count"))
		requireClosed(t, idle)
		requireClosed(t, half)
		go func() { _, _ = io.WriteString(stays, request(other)) }()
		res, err = http.ReadResponse(bufio.NewReader(stays), nil)
		require.NoError(t, err, "another step's connection was cut")
		require.Equal(t, http.StatusOK, res.StatusCode)
		token = h.issue(t, "count")
	}
}

func TestCloseEndsAll(t *testing.T) {
	h := open(t, "run-1")
	token := h.issue(t, "count")
	idle, half, fresh := h.loopback(t, "count"), h.loopback(t, "render"), h.dial(t, "count")
	_, err := io.WriteString(idle, request(token))
	require.NoError(t, err)
	_, err = http.ReadResponse(bufio.NewReader(idle), nil)
	require.NoError(t, err)
	_, err = io.WriteString(half, "GET / HTTP/1.1\r\n")
	require.NoError(t, err)

	require.NoError(t, h.Close())
	require.NoError(t, h.Close(), "a second time")
	for _, conn := range []net.Conn{idle, half, fresh, h.dial(t, "count"), h.loopback(t, "count")} {
		requireClosed(t, conn)
	}
	h.doors.mu.Lock()
	require.Empty(t, h.doors.open)
	h.doors.mu.Unlock()
	require.Empty(t, h.tokens)
	_, err = h.Issue("late", Terms{Limit: time.Minute})
	require.ErrorContains(t, err, "closed")
}

// Steps come and go side by side; a token opens its own door from the moment it is issued until it is revoked.
func TestConcurrentSteps(t *testing.T) {
	h := open(t, "run-1")
	var steps sync.WaitGroup
	for i := range 8 {
		steps.Go(func() {
			step := fmt.Sprintf("step-%d", i)
			for range 10 {
				token, err := h.Issue(step, Terms{Limit: time.Minute})
				if err != nil {
					t.Errorf("issue: %v", err)
					return
				}
				conn := h.dial(t, step)
				go func() { _, _ = io.WriteString(conn, request(token)+request(token)) }()
				answers := bufio.NewReader(conn)
				for range 2 {
					res, err := http.ReadResponse(answers, nil)
					if err != nil || res.StatusCode != http.StatusOK {
						t.Errorf("%s was refused: %v", step, err)
						return
					}
					body, _ := io.ReadAll(res.Body)
					if !strings.Contains(string(body), `"`+step+`"`) {
						t.Errorf("%s got the scope of another: %s", step, body)
					}
				}
				if err := h.Revoke(step); err != nil {
					t.Errorf("revoke: %v", err)
				}
			}
		})
	}
	steps.Wait()
	require.Empty(t, h.tokens)
}
