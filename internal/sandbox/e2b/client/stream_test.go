package client

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// drain reads a stream to its end.
func drain(s *Stream) (out []byte, end *End, err error) {
	for {
		ev, err := s.Next()
		if err != nil {
			return out, end, err
		}
		out = append(out, ev.Stdout...)
		if ev.End != nil {
			end = ev.End
		}
	}
}

func TestStart(t *testing.T) {
	var head http.Header
	var path string
	var sent map[string]any
	var length uint32
	reply := streams(started(7), event(map[string]any{"keepalive": map[string]any{}}), stdout("caf\xc3"), stdout("\xa9\xff\x00"), ended(map[string]any{"exited": true, "status": "exit status 0"}), eos)
	d := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		head, path = r.Header, r.URL.Path
		body, _ := io.ReadAll(r.Body)
		length = binary.BigEndian.Uint32(body[1:])
		_ = json.Unmarshal(body[5:], &sent)
		reply(w, r)
	})
	s, err := d.Start(t.Context(), Start{Cmd: "/bin/cat", Args: []string{"-"}, Env: map[string]string{"A": "b"}, Dir: "/"})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, 7, s.PID())
	out, end, err := drain(s)
	require.Equal(t, io.EOF, err)
	require.Equal(t, "caf\xc3\xa9\xff\x00", string(out))
	require.Equal(t, &End{Exited: true, Status: "exit status 0"}, end)

	require.Equal(t, "/process.Process/Start", path)
	require.NotZero(t, length)
	require.Equal(t, map[string]any{"stdin": false, "process": map[string]any{"cmd": "/bin/cat", "args": []any{"-"}, "envs": map[string]any{"A": "b"}, "cwd": "/"}}, sent)
	for k, v := range map[string]string{
		"X-Access-Token": "token", "E2b-Sandbox-Id": "i1", "E2b-Sandbox-Port": "49983", "Keepalive-Ping-Interval": "10", "X-Api-Key": "",
		"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("root:")), "Connect-Timeout-Ms": "", "Accept-Encoding": "identity",
	} {
		require.Equal(t, v, head.Get(k), k)
	}
}

// Only the event of the end says that a process has ended.
func TestStreamsThatEndOtherwise(t *testing.T) {
	up := started(7)
	half := stdout("0123456789")
	for name, test := range map[string]struct {
		pieces [][]byte
		kind   error
	}{
		"a clean end without the process's":  {[][]byte{up, stdout("x"), eos}, ErrCut},
		"no last envelope":                   {[][]byte{up, stdout("x")}, ErrCut},
		"half an envelope":                   {[][]byte{up, half[:9]}, ErrCut},
		"half a head":                        {[][]byte{up, half[:3]}, ErrCut},
		"an error of the daemon":             {[][]byte{up, envelope(flagEnd, map[string]any{"error": map[string]string{"code": "unavailable"}})}, ErrCut},
		"an envelope beyond the cap":         {[][]byte{up, {0, 0xff, 0xff, 0xff, 0xff}}, ErrProtocol},
		"a compressed envelope":              {[][]byte{up, {flagPacked, 0, 0, 0, 0}}, ErrProtocol},
		"an envelope that is not JSON":       {[][]byte{up, {0, 0, 0, 0, 1, 'x'}}, ErrProtocol},
		"a last envelope that is not JSON":   {[][]byte{up, {flagEnd, 0, 0, 0, 1, 'x'}}, ErrProtocol},
		"bytes that are not base64":          {[][]byte{up, event(map[string]any{"data": map[string]any{"stdout": "%%%"}})}, ErrProtocol},
		"an event after the end":             {[][]byte{up, ended(map[string]any{}), stdout("x"), eos}, ErrProtocol},
		"the end, and then the line is dead": {[][]byte{up, ended(map[string]any{"exitCode": 3, "exited": true})}, io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := daemon(t, streams(test.pieces...)).Start(t.Context(), Start{Cmd: "x"})
			require.NoError(t, err)
			defer s.Close()
			_, _, err = drain(s)
			require.ErrorIs(t, err, test.kind)
		})
	}
}

func TestEndOfASignal(t *testing.T) {
	s, err := daemon(t, streams(started(1), ended(map[string]any{"exitCode": -1, "status": "signal: killed"}), eos)).Connect(t.Context(), 1)
	require.NoError(t, err)
	defer s.Close()
	_, end, err := drain(s)
	require.Equal(t, io.EOF, err)
	require.Equal(t, &End{Code: -1, Status: "signal: killed"}, end)
}

// What was refused is told from what may run.
func TestRefusedStreams(t *testing.T) {
	last := func(code string) http.HandlerFunc {
		return streams(envelope(flagEnd, map[string]any{"error": map[string]string{"code": code, "message": "no"}}))
	}
	plain := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer{status, nil, body}.to(w) }
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		kind    error
	}{
		"a bad directory":           {last("invalid_argument"), ErrRefused},
		"no such process":           {last("not_found"), ErrNotFound},
		"a bad token":               {plain(401, `{"code":"unauthenticated","message":"no"}`), ErrKey},
		"too many requests":         {plain(429, `{}`), ErrRate},
		"the proxy knows no such":   {plain(502, `{"sandboxId":"i1","message":"The sandbox was not found","code":502}`), ErrLost},
		"the daemon is not there":   {plain(502, `{"sandboxId":"i1","message":"The sandbox is running but port is not open","code":502,"port":49983}`), ErrUnavailable},
		"a gateway":                 {plain(502, `<html>bad gateway</html>`), ErrUnavailable},
		"a page":                    {plain(200, `<html>hello</html>`), ErrProtocol},
		"cut before anything":       {func(w http.ResponseWriter, _ *http.Request) { cut(w) }, ErrUnknown},
		"cut before the process is": {streams(), ErrCut},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := daemon(t, test.handler).Start(t.Context(), Start{Cmd: "x"})
			require.ErrorIs(t, err, test.kind)
		})
	}
}

// A stream that says nothing is given up, and one that is alive is not.
func TestSilence(t *testing.T) {
	hold := make(chan struct{})
	d := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		streams(started(7), stdout("x"), stdout("y"))(w, r)
		<-hold
	})
	t.Cleanup(func() { close(hold) })
	s, err := d.Start(t.Context(), Start{Cmd: "x"})
	require.NoError(t, err)
	defer s.Close()
	require.Equal(t, silence, s.limit)
	ev, err := s.Next()
	require.NoError(t, err)
	require.Equal(t, "x", string(ev.Stdout))
	s.limit = 50 * time.Millisecond // each envelope begins the wait anew
	ev, err = s.Next()
	require.NoError(t, err)
	require.Equal(t, "y", string(ev.Stdout))
	_, err = s.Next()
	require.ErrorIs(t, err, ErrCut)
	require.ErrorContains(t, err, "nothing was heard")
}

func TestCancel(t *testing.T) {
	hold := make(chan struct{})
	d := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		streams(started(7))(w, r)
		<-hold
	})
	t.Cleanup(func() { close(hold) })
	ctx, cancel := context.WithCancel(t.Context())
	s, err := d.Start(ctx, Start{Cmd: "x"})
	require.NoError(t, err)
	defer s.Close()
	cancel()
	_, err = s.Next()
	require.ErrorIs(t, err, context.Canceled)
}

func TestUnary(t *testing.T) {
	var path string
	var body []byte
	d := daemon(t, func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.Path
		body, _ = io.ReadAll(r.Body)
		answer{200, nil, `{}`}.to(w)
	})
	for name, test := range map[string]struct {
		call func() error
		sent string
	}{
		"SendInput":  {func() error { return d.SendInput(t.Context(), 7, []byte("\xff\n")) }, `{"process":{"pid":7},"input":{"stdin":"/wo="}}`},
		"CloseStdin": {func() error { return d.CloseStdin(t.Context(), 7) }, `{"process":{"pid":7}}`},
		"SendSignal": {func() error { return d.SendSignal(t.Context(), 7, Kill) }, `{"process":{"pid":7},"signal":"SIGNAL_SIGKILL"}`},
	} {
		require.NoError(t, test.call())
		require.Equal(t, "/process.Process/"+name, path)
		require.JSONEq(t, test.sent, string(body))
	}
	var times atomic.Int64
	require.ErrorIs(t, daemon(t, script(&times, answer{})).SendInput(t.Context(), 7, []byte("x")), ErrUnknown)
	require.EqualValues(t, 1, times.Load(), "it may have been written")
}

// What a stranger sends is an error or an event, and never more than it said.
func FuzzStream(f *testing.F) {
	f.Add(append(append(started(1), stdout("x")...), append(ended(map[string]any{}), eos...)...))
	f.Add(started(1)[:7])
	f.Add([]byte{flagEnd, 0, 0, 0, 2, '{', '}'})
	f.Fuzz(func(t *testing.T, wire []byte) {
		s := &Stream{op: "test", body: io.NopCloser(bytes.NewReader(wire)), alive: time.NewTimer(time.Hour), limit: time.Hour, cut: context.Background(), stop: func() {}}
		defer s.Close()
		for ends := 0; ; {
			ev, err := s.Next()
			if ev.End != nil {
				ends++
			}
			require.LessOrEqual(t, ends, 1)
			if err != nil {
				var e *Error
				require.True(t, errors.Is(err, io.EOF) || errors.As(err, &e), "%v", err)
				require.True(t, !errors.Is(err, io.EOF) || ends == 1, "an end that nobody told")
				require.NotContains(t, err.Error(), "\x1b")
				return
			}
		}
	})
}
